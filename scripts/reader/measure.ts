/**
 * Measures the embedded reader on collected examples (see `collect.ts`).
 *
 * ```sh
 * node --conditions=@sluice/source scripts/reader/measure.ts --examples FILE [--sealed] [--failures]
 * ```
 *
 * Questions that are kept apart are left out without `--sealed`, and are the only ones with it.
 */
import { readSentences } from "@sluice/embedded"
import { flag } from "../flags.ts"
import { readJsonLines } from "../jsonLines.ts"
import type { Example } from "./Example.ts"
import { judge, row } from "./Judge.ts"

const sealed = process.argv.includes("--sealed")
const examples = readJsonLines<Example>(flag("--examples")).filter(
  (example) => (example.sealed ?? false) === sealed
)

const groups: ReadonlyArray<readonly [string, ReadonlyArray<Example>]> = [
  ["all", examples],
  ...Map.groupBy(examples, ({ kind }) => kind),
  ...Map.groupBy(
    examples.filter(({ kind }) => kind === "keyword"),
    ({ language }) => `keyword ${language}`
  ),
  ...Map.groupBy(
    examples.filter(({ kind }) => kind === "own"),
    ({ language }) => `own ${language}`
  )
]
const times: Array<number> = []
for (const [name, some] of groups) {
  const score = judge(some, ({ passages, question }) => {
    const before = performance.now()
    const answer = readSentences(question, passages.slice(0, 3))
    times.push(performance.now() - before)
    return answer
  })
  console.log(row(name, score))
  if (name === "all" && process.argv.includes("--failures"))
    for (const failure of score.failures) console.log("   ", failure)
}
console.log(`median ${times.toSorted((a, b) => a - b)[times.length >> 1]?.toFixed(2)} ms`)
