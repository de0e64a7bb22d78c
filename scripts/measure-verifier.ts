/**
 * Measures the embedded verifier on sentence–quote pairs that people labelled.
 *
 * ```sh
 * node --conditions=@sluice/source scripts/measure-verifier.ts FILE
 * ```
 *
 * FILE has a line of JSON for each pair, in the form of FoolMeTwice (`dataset/test.jsonl` of the public repository
 * google-research/fool-me-twice, Apache-2.0): `text`, `gold_evidence`, `label`, `wikipedia_page`.
 */
import { readFileSync } from "node:fs"
import { Verifier } from "@sluice/core"
import { layerVerifier } from "@sluice/embedded"
import { Effect } from "effect"

interface Pair {
  readonly text: string
  readonly label: "SUPPORTS" | "REFUTES"
  readonly wikipedia_page: string
  readonly gold_evidence: ReadonlyArray<{ readonly text: string; readonly section_header: string }>
}

const pairs: ReadonlyArray<Pair> = readFileSync(process.argv[2] ?? "", "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line))

const { doubts } = await Verifier.use(({ verify }) =>
  verify(
    pairs.map(({ gold_evidence: evidence, text, wikipedia_page: page }) => ({
      sentence: text,
      quotes: evidence.map((quote) => quote.text),
      context: [page, ...evidence.map((quote) => quote.section_header)].join("\n")
    }))
  )
).pipe(Effect.provide(layerVerifier), Effect.runPromise)

/** `The name Anna is not in its quotes.` without the name. */
const kindOf = (doubt: string | undefined) => doubt?.replace(/(number|name) .* is/, "$1 … is") ?? "supported"
const share = (part: number, of: number) => (part / of).toFixed(3)
const right = pairs.filter(({ label }) => label === "SUPPORTS").length
const count = (kind: string, label: Pair["label"]) =>
  pairs.filter((pair, i) => pair.label === label && kindOf(doubts[i]) === kind).length

console.log(`${pairs.length} pairs, ${right} supported\n${"".padEnd(56)}right  wrong`)
for (const kind of new Set(doubts.map(kindOf))) {
  const [kept, wrong] = [count(kind, "SUPPORTS"), count(kind, "REFUTES")]
  console.log(kind.padEnd(55), share(kept, right), share(wrong, pairs.length - right))
}
const shown = count("supported", "SUPPORTS")
console.log(`precision of what stays: ${share(shown, shown + count("supported", "REFUTES"))}`)
