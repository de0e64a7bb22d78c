/** `sluice eval library`: how well the library retrieves from your own documents, without judgements. */
import { Embedder, Reranker } from "@sluice/core"
import { Library } from "@sluice/rag"
import { evaluateLibrary, evaluateQuestions, meteredModels, questionsOf } from "@sluice/rag/evaluation"
import { Effect, Layer, Option, Record } from "effect"
import { Command, Flag } from "effect/cli"
import { join } from "node:path"
import { ServerConfig } from "../../config/ServerConfig.ts"
import { dataFlag, docsFlag, examples, optionalFlag } from "../library/Flags.ts"
import { ingestDocs } from "../library/IngestFolder.ts"
import { modelsLayer } from "../library/OpenLibrary.ts"
import { evaluateWith, resultFlags } from "./EvaluationResult.ts"

export const libraryCommand = Command.make(
  "library",
  {
    docs: docsFlag,
    data: dataFlag,
    questions: optionalFlag(
      Flag.File("questions", { mustExist: true }),
      'File of questions, one per line: {"question": …, "document": PATH, "page"?: …, "text"?: …}. ' +
        "Default: headings and captions of your documents, held out of the index"
    ),
    most: optionalFlag(Flag.Int("most"), "Maximum number of generated questions. Default 200"),
    ...resultFlags
  },
  ({ data, docs, most, questions, ...flags }) =>
    evaluateWith(flags, (options) =>
      Effect.gen(function* () {
        const { embedder, meter, reranker } = yield* meteredModels
        const models = Layer.merge(Layer.succeed(Embedder, embedder), Layer.succeed(Reranker, reranker))
        const config = yield* ServerConfig
        const library = yield* Library.open(join(config.data, "library")).pipe(Effect.provide(models))
        yield* ingestDocs(library, docs)
        return Option.isSome(questions)
          ? yield* evaluateQuestions({ ...options, library, questions: questionsOf(questions.value), meter })
          : yield* evaluateLibrary({ ...options, library, ...Record.getSomes({ questions: most }) })
      })
    ).pipe(Effect.scoped, Effect.provide(modelsLayer(data)))
).pipe(
  Command.withDescription(
    "The same metrics on your own documents. The questions are their headings and captions, held out of the index, or " +
      "a file of your own"
  ),
  examples({
    [`sluice eval library --docs ./docs --a '{"recall":50}' --report report.html`]:
      "Compare a configuration with the default on your documents",
    "sluice eval library --questions questions.jsonl --fail-under hit@3=.8":
      "Use your own questions in continuous integration"
  })
)
