/** `sluice eval retrieval`: how well passages that people judged relevant are retrieved. */
import { evaluateRetrieval } from "@sluice/rag/evaluation"
import { Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import { ServerConfig } from "../../config/ServerConfig.ts"
import { LibraryModelsLayer } from "../../providers/LibraryModels.ts"
import { examples } from "../library/Flags.ts"
import { evaluationData, evaluationDataFlag } from "./EvaluationFlags.ts"
import { evaluateWith, resultFlags } from "./EvaluationResult.ts"

const CONTENTS = "retrieval/NAME with corpus.jsonl, queries.jsonl and qrels.tsv or qrels/test.tsv"

export const retrievalCommand = Command.make(
  "retrieval",
  {
    data: evaluationDataFlag(CONTENTS),
    collection: Flag.String("collection").pipe(
      Flag.withDescription("NAME of the collection, such as cranfield")
    ),
    ...resultFlags
  },
  ({ collection, data, ...flags }) =>
    evaluateWith(flags, (options) =>
      Effect.flatMap(evaluationData(data, CONTENTS), (folder) =>
        evaluateRetrieval({ data: folder, collection, ...options })
      )
    ).pipe(Effect.scoped, Effect.provide(Layer.provide(LibraryModelsLayer, ServerConfig.layer)))
).pipe(
  Command.withDescription(
    "nDCG, recall, MRR, hit rate, latency and cost of bm25 (full text), embeddings, embeddings+rerank and the default, " +
      "with significance tests"
  ),
  examples({
    "sluice eval retrieval --data DIR --collection cranfield --fail-under nDCG@10=.4":
      "Fail in continuous integration when quality drops",
    [`sluice eval retrieval --collection cranfield --a '{"recall":50}' --report report.html`]:
      "Compare a configuration with the default and write a report with plots"
  })
)
