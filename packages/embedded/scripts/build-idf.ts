/**
 * Writes src/text/IdfTable.ts. In an empty folder:
 *
 *     npm pack @zxcvbn-ts/language-en@4.1.1 @node-rs/jieba@2.0.3
 *     for f in *.tgz; do mkdir "${f%.tgz}" && tar xzf "$f" -C "${f%.tgz}"; done
 *
 * then here: `npm run build:idf -- FOLDER`. With `--check` it only says whether the table is what it would write.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { buildIdfTable } from "./buildIdfTable.ts"

const ENGLISH = ["wikipedia", "commonWords"].map(
  (name) => `zxcvbn-ts-language-en-4.1.1/package/src/${name}.json`
)
const CHINESE = "node-rs-jieba-2.0.3/package/dict.txt"
const TABLE = join(import.meta.dirname, "../src/text/IdfTable.ts")

const folder = process.argv.slice(2).find((argument) => !argument.startsWith("--"))
if (folder === undefined) {
  console.error("Say where the packages were unpacked: npm run build:idf -- FOLDER [--check]")
  process.exit(1)
}

const levels = buildIdfTable(
  ENGLISH.map((path) => JSON.parse(readFileSync(join(folder, path), "utf8"))),
  readFileSync(join(folder, CHINESE), "utf8")
)
const source = `/**
 * How rare terms are in general English and Chinese: \`idfLevels[i]\` are the terms, joined by spaces, whose idf is
 * (i + 1) / 15 of that of a term that is not named.
 *
 * Written by scripts/build-idf.ts, not by hand, from
 * - wikipedia.json and commonWords.json of the npm package @zxcvbn-ts/language-en 4.1.1 (MIT): words by frequency in
 *   the English Wikipedia, and in OpenSubtitles 2024 by OPUS (ODC-BY, Helsinki-NLP / OPUS and the subtitles' authors);
 * - dict.txt of the npm package @node-rs/jieba 2.0.3 (MIT): the words of jieba's dictionary with their counts (MIT).
 */
export const idfLevels: ReadonlyArray<string> = [
${levels.map((terms) => `  ${JSON.stringify(terms)}`).join(",\n")}
]
`

if (process.argv.includes("--check")) {
  const same = readFileSync(TABLE, "utf8") === source
  console.log(
    same ? "The table is what the script writes." : "The table differs from what the script writes."
  )
  process.exit(same ? 0 : 1)
}
writeFileSync(TABLE, source)
