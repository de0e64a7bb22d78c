/** `sluice eval library`: how well the library retrieves from your own documents, without judgements. */
import { Embedder, Reranker } from "@sluice/core"
import type { LibraryService } from "@sluice/rag"
import {
  evaluateLibrary,
  evaluateQuestions,
  type LibraryQuestion,
  meteredModels,
  questionsOf
} from "@sluice/rag/evaluation"
import { Effect, Layer, Option, Record, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { OWNER } from "../../accounts/Owner.ts"
import { ratedAnswers } from "../../conversations/Conversations.ts"
import { DatabaseLayer } from "../../database/Database.ts"
import {
  booleanFlag,
  collectionFlag,
  countFlag,
  dataFlag,
  docsFlag,
  examples,
  optionalFlag
} from "../library/Flags.ts"
import { ingestDocs } from "../library/IngestFolder.ts"
import { modelsLayer, openLibrary, whenMissing } from "../library/OpenLibrary.ts"
import { evaluateWith, resultFlags } from "./EvaluationResult.ts"

/** The owner's answers that were rated up, by the documents that are still there. */
const feedbackQuestions = Effect.fn("cli.feedbackQuestions")(function* (library: LibraryService) {
  const rated = yield* Effect.provide(ratedAnswers(OWNER), DatabaseLayer)
  const { collection } = yield* library.stats
  const paths = new Set((yield* library.documents).map(({ path }) => path))
  return rated.flatMap(({ answer, rating }): ReadonlyArray<LibraryQuestion> => {
    const { citations, trace } = answer
    const cited = citations.find(({ document, quote }) => quote !== "" && paths.has(document))
    if (rating !== "up" || cited === undefined || trace.collection !== collection) return []
    return [{ question: trace.question, document: cited.document, text: cited.quote }]
  })
})

export const libraryCommand = Command.make(
  "library",
  {
    docs: docsFlag,
    data: dataFlag,
    collection: collectionFlag,
    questions: optionalFlag(
      Flag.File("questions", { mustExist: true }),
      'File of questions, one per line: {"question": …, "document": PATH, "page"?: …, "text"?: …}. ' +
        "Default: headings and captions of your documents, held out of the index"
    ),
    fromFeedback: booleanFlag(
      "from-feedback",
      "Your conversations are the questions: of each answer rated up, its first quote must be found. Stop the server first"
    ),
    most: optionalFlag(countFlag("most"), "Maximum number of generated questions. Default 200"),
    ...resultFlags
  },
  ({ collection, data, docs, fromFeedback, most, questions, ...flags }) =>
    evaluateWith(flags, (options) =>
      Effect.gen(function* () {
        const { embedder, meter, reranker } = yield* meteredModels
        const models = Layer.merge(Layer.succeed(Embedder, embedder), Layer.succeed(Reranker, reranker))
        const library = yield* openLibrary(whenMissing(docs), collection).pipe(Effect.provide(models))
        yield* ingestDocs(library, docs)
        if (fromFeedback) {
          const rated = Stream.fromIterable(yield* feedbackQuestions(library))
          return yield* evaluateQuestions({ ...options, library, questions: rated, meter })
        }
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
