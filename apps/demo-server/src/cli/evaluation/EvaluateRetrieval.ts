/** `sluice eval retrieval`: how well the library finds what people judged to be relevant. */
import { evaluateRetrieval } from "@sluice/rag/evaluation"
import { Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import { ServerConfig } from "../../config/ServerConfig.ts"
import { NarrowLayer } from "../../providers/Models.ts"
import * as Configurations from "./EvaluationFlags.ts"
import { dataFlag, dataFolder } from "./DataFolder.ts"
import { beginReport, present, reportFlag } from "./EvaluationOutput.ts"
import { checkLimits, failUnder, readLimits } from "./FailUnder.ts"
import { json } from "../output/Output.ts"
import * as Progress from "../output/Progress.ts"

const HOLDS = "retrieval/NAME with corpus.jsonl, queries.jsonl and qrels.tsv or qrels/test.tsv"

export const retrieval = Command.make(
  "retrieval",
  {
    data: dataFlag(HOLDS),
    collection: Flag.String("collection").pipe(
      Flag.withDescription("NAME of the collection, such as cranfield")
    ),
    ...Configurations.flags,
    failUnder,
    report: reportFlag,
    json
  },
  ({ a, b, collection, data, failUnder, json, report }) =>
    Effect.gen(function* () {
      const limits = yield* readLimits(failUnder)
      const configurations = yield* Configurations.read({ a, b })
      yield* beginReport(report)
      const progress = yield* Progress.make("Asking")
      const evaluation = yield* evaluateRetrieval({
        data: yield* dataFolder(data, HOLDS),
        collection,
        configurations,
        onQuestion: (asked) => progress.update(asked, undefined, "questions")
      })
      yield* present(json, report, { ...evaluation, configurations })
      const found = evaluation.runs.find(({ name }) => name === "default")
      yield* checkLimits(limits, "default", found?.metrics)
    }).pipe(Effect.scoped, Effect.provide(Layer.provide(NarrowLayer, ServerConfig.layer)))
).pipe(
  Command.withDescription(
    "nDCG, recall, MRR, hit rate, time and cost of full text (bm25), embeddings, embeddings+rerank and the default, " +
      "and whether the differences are more than chance"
  ),
  Command.withExamples([
    {
      command: "sluice eval retrieval --data DIR --collection cranfield --fail-under nDCG@10=.4",
      description: "For continuous integration"
    },
    {
      command: `sluice eval retrieval --collection cranfield --a '{"recall":50}' --report report.html`,
      description: "A configuration against the default, as a report with plots"
    }
  ])
)
