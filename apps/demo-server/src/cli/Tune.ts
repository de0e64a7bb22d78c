/** `sluice tune`: the fusion that suits these documents, measured. */
import { Library, type TunedFusion, tune as tuned, type Tuning } from "@sluice/rag"
import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { join } from "node:path"
import { ServerConfig } from "../Config.ts"
import { NarrowLayer } from "../providers/Narrow.ts"
import { json, print } from "./Output.ts"
import * as Settings from "./Settings.ts"

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
  Effect.gen(function* () {
    const config = yield* ServerConfig
    const tuning = yield* tuned(yield* Library.open(join(config.data, "library")))
    yield* print(json, tuning, () => render(tuning))
  }).pipe(
    Effect.scoped,
    Effect.provide(
      NarrowLayer.pipe(Layer.provideMerge(ServerConfig.layer), Layer.provide(Settings.layer({ data })))
    )
  )
).pipe(
  Command.withDescription(
    "Measure how vectors and keywords are best joined for the library's documents, by questions made from their own " +
      "headings and captions"
  )
)
