/**
 * Measures the embedded verifier on labelled sentence–quote pairs.
 *
 * ```sh
 * node --conditions=@sluice/source scripts/measure-verifier.ts [FILE] [--strict]
 * ```
 *
 * `--strict` measures `layerStrictVerifier`. FILE has a line of JSON for each pair. Default: `test/qa/support-pairs.jsonl`. Also read is the form of FoolMeTwice
 * (`dataset/test.jsonl` of the public repository google-research/fool-me-twice, Apache-2.0).
 */
import { Verifier } from "@sluice/core"
import { layerStrictVerifier, layerVerifier } from "@sluice/embedded"
import { Effect } from "effect"
import { readJsonLines } from "./jsonLines.ts"

interface Pair {
  readonly kind: string
  readonly supported: boolean
  readonly heldOut: boolean
  readonly sentence: string
  readonly quotes: ReadonlyArray<string>
  readonly context?: string
}

interface FoolMeTwice {
  readonly text: string
  readonly label: "SUPPORTS" | "REFUTES"
  readonly wikipedia_page: string
  readonly gold_evidence: ReadonlyArray<{ readonly text: string; readonly section_header: string }>
}

const toPair = (line: Pair | FoolMeTwice): Pair =>
  "sentence" in line
    ? line
    : {
        kind: line.label.toLowerCase(),
        supported: line.label === "SUPPORTS",
        heldOut: true,
        sentence: line.text,
        quotes: line.gold_evidence.map(({ text }) => text),
        context: [line.wikipedia_page, ...line.gold_evidence.map((quote) => quote.section_header)].join("\n")
      }

const pairs = readJsonLines<Pair | FoolMeTwice>(
  process.argv.slice(2).find((word) => word !== "--strict") ?? "test/qa/support-pairs.jsonl"
).map(toPair)

const isStrict = process.argv.includes("--strict")
const { doubts } = await Verifier.use(({ verify }) =>
  verify(pairs.map(({ context = "", quotes, sentence }) => ({ sentence, quotes, context })))
).pipe(Effect.provide(isStrict ? layerStrictVerifier : layerVerifier), Effect.runPromise)

const judged = pairs.map((pair, i) => ({ ...pair, doubt: doubts[i] }))
type Judged = (typeof judged)[number]

const count = (list: ReadonlyArray<Judged>, is: (one: Judged) => boolean) => list.filter(is).length
const share = (part: number, of: number) => (of === 0 ? "–" : (part / of).toFixed(3))

const print = (name: string, list: ReadonlyArray<Judged>) => {
  const right = list.filter(({ supported }) => supported)
  const wrong = list.filter(({ supported }) => !supported)
  const stays = ({ doubt }: Judged) => doubt === undefined
  const [good, bad] = [count(right, stays), count(wrong, stays)]
  console.log(
    [
      name.padEnd(28),
      `${right.length} right, ${wrong.length} wrong`.padEnd(24),
      `precision of what stays ${share(good, good + bad)}`,
      `right that stay ${share(good, right.length)}`,
      `wrong that stay ${share(bad, wrong.length)}`
    ].join("  ")
  )
}

for (const heldOut of [false, true]) {
  const half = judged.filter((one) => one.heldOut === heldOut)
  if (half.length === 0) continue
  print(heldOut ? "held out" : "worked on", half)
  for (const [kind, list] of Map.groupBy(
    half,
    ({ kind, supported }) => `  ${kind}, ${supported ? "right" : "wrong"}`
  ))
    print(kind, list)
}
