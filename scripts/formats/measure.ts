/**
 * Measures how much of the text of public files the formats read.
 *
 * ```sh
 * python3 scripts/formats/reference.py DIR > reference.jsonl
 * node --conditions=@sluice/source scripts/formats/measure.ts --files DIR --reference reference.jsonl [--sealed]
 * ```
 *
 * Recall is the share of the reference's words, each as often as it occurs, that are in the parsed text. Order is the share of
 * its pairs of neighbouring words within a paragraph that are neighbours there too. Files that are kept apart are left out
 * without `--sealed`, and then only their totals are written.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { flag } from "../flags.ts"
import { readJsonLines } from "../jsonLines.ts"
import { listedFiles, type ListedFile } from "./listedFiles.ts"

const sealed = process.argv.includes("--sealed")
const files = flag("--files")

interface Reference {
  readonly file: string
  readonly paragraphs?: ReadonlyArray<string>
  readonly unread?: string
}

const references = new Map(readJsonLines<Reference>(flag("--reference")).map((one) => [one.file, one]))

const wordsOf = (text: string): ReadonlyArray<string> =>
  text
    .normalize("NFC")
    .replace(/[\u00AD\u200B-\u200F\u2060\uFEFF]/g, "")
    .toLowerCase()
    .match(/\p{Script=Han}|[\p{L}\p{M}\p{N}]+/gu) ?? []

const countsOf = (items: Iterable<string>): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
  return counts
}

const pairsOf = (words: ReadonlyArray<string>): ReadonlyArray<string> =>
  words.slice(1).map((word, i) => `${words[i]} ${word}`)

/** How many of the wanted items are there, each as often as it occurs. */
const found = (wanted: Map<string, number>, there: Map<string, number>) => {
  let sum = 0
  const missing: Array<string> = []
  for (const [item, count] of wanted) {
    const both = Math.min(count, there.get(item) ?? 0)
    sum += both
    if (both < count) missing.push(count - both > 1 ? `${item} ×${count - both}` : item)
  }
  return { sum, missing }
}

interface Score {
  readonly words: number
  readonly recalled: number
  readonly pairs: number
  readonly ordered: number
}

const NONE: Score = { words: 0, recalled: 0, pairs: 0, ordered: 0 }

const add = (a: Score, b: Score): Score => ({
  words: a.words + b.words,
  recalled: a.recalled + b.recalled,
  pairs: a.pairs + b.pairs,
  ordered: a.ordered + b.ordered
})

const percent = (part: number, whole: number): string =>
  whole === 0 ? "–" : `${((100 * part) / whole).toFixed(2)} %`

const row = (name: string, count: number, { ordered, pairs, recalled, words }: Score): string =>
  `| ${name} | ${count} | ${words} | ${percent(recalled, words)} | ${percent(ordered, pairs)} |`

/** Below this recall a file is named with the words that are missing. */
const NAMED_BELOW = 0.99

const scoreOf = async (file: ListedFile, paragraphs: ReadonlyArray<string>): Promise<Score | string> => {
  const bytes = new Uint8Array(readFileSync(join(files, file.name)))
  const result = await Effect.runPromise(Effect.result(parse({ path: file.name, bytes })))
  const words = paragraphs.map(wordsOf)
  const wanted = countsOf(words.flat())
  const pairs = countsOf(words.flatMap(pairsOf))
  const total = (counts: Map<string, number>) => counts.values().reduce((sum, count) => sum + count, 0)
  if (result._tag === "Failure") {
    const empty = { words: total(wanted), recalled: 0, pairs: total(pairs), ordered: 0 }
    if (!sealed) console.log(`${file.repository} ${file.path} (${file.name}): ${result.failure.message}`)
    return empty.words === 0 ? "empty for both" : empty
  }
  const { text, title } = result.success
  // A title that is not in the text, such as the subject of a mail, is found by search too
  const ours = wordsOf(`${title}\n${text}`)
  const recall = found(wanted, countsOf(ours))
  const order = found(pairs, countsOf(pairsOf(ours)))
  const score = {
    words: total(wanted),
    recalled: recall.sum,
    pairs: total(pairs),
    ordered: order.sum
  }
  const lowest = Math.min(recall.sum / score.words, (order.sum || 1) / (score.pairs || 1))
  if (!sealed && lowest < NAMED_BELOW) {
    console.log(
      `${file.repository} ${file.path} (${file.name}): ${percent(score.recalled, score.words)}, in order ${percent(score.ordered, score.pairs)}: ${recall.missing.slice(0, 12).join(", ")} | ${order.missing.slice(0, 6).join(", ")}`
    )
  }
  return score
}

const scores = new Map<string, Array<Score>>()
const repositories = new Set<string>()
for (const file of listedFiles()) {
  if (file.sealed !== sealed) continue
  const { paragraphs, unread } = references.get(file.name) ?? { unread: "it was not collected" }
  const score = paragraphs === undefined ? `no reference: ${unread}` : await scoreOf(file, paragraphs)
  if (typeof score === "string") {
    if (!sealed) console.log(`${file.repository} ${file.path} (${file.name}): left out, ${score}`)
    continue
  }
  repositories.add(file.repository)
  scores.set(file.format, [...(scores.get(file.format) ?? []), score])
}
console.log("\n| format | files | words | recall | in order |\n| --- | --- | --- | --- | --- |")
for (const [format, all] of scores) console.log(row(format, all.length, all.reduce(add, NONE)))
const every = [...scores.values()].flat()
console.log(row("all", every.length, every.reduce(add, NONE)))
console.log(`\n${repositories.size} repositories`)
