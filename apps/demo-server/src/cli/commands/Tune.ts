/** `sluice tune`: the fusion that suits these documents, measured. */
import { type TunedFusion, tune as tuned, type Tuning } from "@sluice/rag/evaluation"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { withLibrary } from "../library/OpenLibrary.ts"
import { json, print } from "../output/Output.ts"
import * as Settings from "../library/Settings.ts"

const row = ({ difference, fusion, ...metrics }: TunedFusion): string =>
  [
    metrics.score.toFixed(4),
    metrics["hit@3"].toFixed(4),
    metrics["MRR@10"].toFixed(4),
    metrics["recall@20"].toFixed(4),
    difference.p.toFixed(4)
  ]
    .map((cell) => cell.padStart(10))
    .join("") + `  ${JSON.stringify(fusion)}`

const render = ({ fusion, fusions, note, questions }: Tuning): string =>
  [
    ["score", "hit@3", "MRR@10", "recall@20", "p"].map((name) => name.padStart(10)).join("") + "  fusion",
    ...fusions.map(row),
    `${questions} questions. ${note}`,
    `Chosen: ${JSON.stringify(fusion)}. A program passes it as { fusion }.`
  ].join("\n")

export const tune = Command.make("tune", { data: Settings.data, json }, ({ data, json }) =>
  withLibrary(data, (library) =>
    Effect.flatMap(tuned(library), (tuning) => print(json, tuning, () => render(tuning)))
  )
).pipe(
  Command.withDescription(
    "Measure how vectors and keywords are best joined for the library's documents, by questions made from their own " +
      "headings and captions"
  )
)
