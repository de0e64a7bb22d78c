/** `sluice eval retrieval`: how well the library finds what people judged to be relevant. */
import { type Evaluation, evaluateRetrieval } from "@sluice/rag"
import { Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { ServerConfig } from "../Config.ts"
import { NarrowLayer } from "../providers/Narrow.ts"
import { dataFlag, dataFolder } from "./DataFolder.ts"
import { figures } from "./EvaluateFigures.ts"
import { json, print } from "./Output.ts"
import * as Settings from "./Settings.ts"

const HOLDS = "retrieval/NAME with corpus.jsonl, queries.jsonl and qrels.tsv"

/** A table: a row a run, a column a metric. */
const render = ({ collection, runs }: Evaluation): string => {
  const names = [...new Set(runs.flatMap(({ metrics }) => Object.keys(metrics)))]
  const width = Math.max(collection.length, ...runs.map(({ name }) => name.length))
  const rows = runs.map(({ metrics, name }) => {
    const values: Readonly<Record<string, number | undefined>> = { ...metrics }
    const cells = names.map((metric) => (values[metric]?.toFixed(4) ?? "").padStart(10))
    return `${name.padEnd(width)}${cells.join("")}`
  })
  return [collection.padEnd(width) + names.map((name) => name.padStart(10)).join(""), ...rows].join("\n")
}

const retrieval = Command.make(
  "retrieval",
  {
    data: dataFlag(HOLDS),
    collection: Flag.String("collection").pipe(
      Flag.withDescription("NAME of the collection, such as cranfield")
    ),
    json
  },
  ({ collection, data, json }) =>
    Effect.gen(function* () {
      const evaluation = yield* evaluateRetrieval({ data: yield* dataFolder(data, HOLDS), collection })
      yield* print(json, evaluation, () => render(evaluation))
    }).pipe(
      Effect.scoped,
      Effect.provide(
        NarrowLayer.pipe(
          Layer.provide(ServerConfig.layer),
          Layer.provide(Settings.layer({ data: Option.none() }))
        )
      )
    )
).pipe(
  Command.withDescription(
    "nDCG, recall, MRR and hit rate of full text (bm25), embeddings, embeddings+rerank, and the default"
  )
)

export const evaluate = Command.make("eval").pipe(
  Command.withDescription("Measure retrieval and the reading of figures"),
  Command.withSubcommands([retrieval, figures])
)
