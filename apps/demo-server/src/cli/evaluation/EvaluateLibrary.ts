/** `sluice eval library`: how well the library finds what is in it, without judgements of anybody. */
import { Library } from "@sluice/rag"
import { evaluateLibrary, evaluateQuestions, meteredModels, questionsOf } from "@sluice/rag/evaluation"
import { Embedder, Reranker } from "@sluice/core"
import { Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { join } from "node:path"
import { ServerConfig } from "../../config/ServerConfig.ts"
import * as Configurations from "./EvaluationFlags.ts"
import { beginReport, present, reportFlag } from "./EvaluationOutput.ts"
import { checkLimits, failUnder, readLimits } from "./FailUnder.ts"
import { bringUpToDate, docsFlag } from "../commands/Ingest.ts"
import { modelsOf } from "../library/OpenLibrary.ts"
import { json } from "../output/Output.ts"
import * as Progress from "../output/Progress.ts"
import * as Settings from "../library/Settings.ts"

export const library = Command.make(
  "library",
  {
    docs: docsFlag,
    data: Settings.data,
    questions: Flag.File("questions", { mustExist: true }).pipe(
      Flag.withDescription(
        'A file of questions, one a line: {"question": …, "document": PATH, "page"?: …, "text"?: …}. ' +
          "Default: headings and captions of the documents, held out of the index"
      ),
      Flag.optional
    ),
    most: Flag.Int("most").pipe(
      Flag.withDescription("Questions that are made of the documents at most. Default 200"),
      Flag.optional
    ),
    ...Configurations.flags,
    failUnder,
    report: reportFlag,
    json
  },
  ({ a, b, data, docs, failUnder, json, most, questions, report }) =>
    Effect.gen(function* () {
      const limits = yield* readLimits(failUnder)
      const configurations = yield* Configurations.read({ a, b })
      yield* beginReport(report)
      const { embedder, meter, reranker } = yield* meteredModels
      const models = Layer.merge(Layer.succeed(Embedder, embedder), Layer.succeed(Reranker, reranker))
      const config = yield* ServerConfig
      const library = yield* Library.open(join(config.data, "library")).pipe(Effect.provide(models))
      yield* bringUpToDate(library, docs)
      const progress = yield* Progress.make("Asking")
      const shared = {
        library,
        configurations,
        onQuestion: (asked: number) => progress.update(asked, undefined, "questions")
      }
      const evaluation = yield* Option.match(questions, {
        onNone: () =>
          evaluateLibrary({ ...shared, ...(Option.isSome(most) ? { questions: most.value } : {}) }),
        onSome: (path) => evaluateQuestions({ ...shared, questions: questionsOf(path), meter })
      })
      yield* present(json, report, { ...evaluation, configurations })
      const found = evaluation.runs.find(({ name }) => name === "default")
      yield* checkLimits(limits, "default", found?.metrics)
    }).pipe(Effect.scoped, Effect.provide(modelsOf(data)))
).pipe(
  Command.withDescription(
    "The same metrics on your own documents: their headings and captions are the questions, held out of the index, or " +
      "a file of your questions"
  ),
  Command.withExamples([
    {
      command: `sluice eval library --docs ./docs --a '{"recall":50}' --report report.html`,
      description: "Is another configuration better for these documents?"
    },
    {
      command: "sluice eval library --questions questions.jsonl --fail-under hit@3=.8",
      description: "Your questions, for continuous integration"
    }
  ])
)
