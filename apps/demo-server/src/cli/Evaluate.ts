/** `sluice eval retrieval`: how well the library finds what people judged to be relevant. */
import { type Evaluation, evaluateRetrieval, RagError } from "@sluice/rag"
import { Effect, FileSystem, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { ServerConfig } from "../Config.ts"
import { NarrowLayer } from "../providers/Narrow.ts"
import { json, print } from "./Output.ts"
import * as Settings from "./Settings.ts"

/** Where the collections are looked for when nothing is said: beside the repository. */
const BESIDE = "../shared/data"

const dataFolder = Effect.fn("cli.dataFolder")(function* (said: Option.Option<string>) {
  if (Option.isSome(said)) return said.value
  const fs = yield* FileSystem.FileSystem
  if (yield* fs.exists(BESIDE).pipe(Effect.orElseSucceed(() => false))) return BESIDE
  return yield* new RagError({
    stage: "evaluate",
    reason: "NotFound",
    message:
      `There is no ${BESIDE} here: say where the data is with --data DIR. It holds retrieval/NAME with corpus.jsonl, ` +
      "queries.jsonl and qrels.tsv"
  })
})

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
    data: Flag.Directory("data").pipe(
      Flag.withDescription(`Folder that holds retrieval/NAME. Default ${BESIDE}, when it is there`),
      Flag.optional
    ),
    collection: Flag.String("collection").pipe(
      Flag.withDescription("NAME of the collection, such as cranfield")
    ),
    json
  },
  ({ collection, data, json }) =>
    Effect.gen(function* () {
      const evaluation = yield* evaluateRetrieval({ data: yield* dataFolder(data), collection })
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
  Command.withDescription("Measure retrieval on judged collections"),
  Command.withSubcommands([retrieval])
)
