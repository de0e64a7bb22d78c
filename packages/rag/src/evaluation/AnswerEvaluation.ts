/** Measures how well questions about documents are answered, cited, or left unanswered. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { Duration, Effect, Record, type Scope, Stream } from "effect"
import { groupBy } from "effect/Array"
import { Library, type Models } from "../library/Library.ts"
import type { LibraryService } from "../library/LibraryService.ts"
import type { RagError } from "../document/RagError.ts"
import {
  type AnswerScores,
  ExpectedAnswer,
  isRight,
  type JudgedAnswer,
  judgeAnswer,
  scoreAnswers
} from "./AnswerScores.ts"
import { jsonLines } from "./JsonLines.ts"
import { percentile } from "./Runs.ts"
import { temporaryFolder } from "./TemporaryCollection.ts"

/** The scores of all questions, of those used in development, and of those held out. */
export interface AnswerEvaluation {
  readonly questions: number
  readonly ran: number
  /** Documents that do not exist. Their questions were not asked. */
  readonly missing: ReadonlyArray<string>
  readonly all: AnswerScores
  readonly worked: AnswerScores
  readonly heldOut: AnswerScores
  readonly byKind: { readonly [kind: string]: AnswerScores }
  /** Wrong answers; `retrieved` is false if retrieval missed the passage. */
  readonly failures: ReadonlyArray<JudgedAnswer>
  /** The median time of a question. */
  readonly p50Milliseconds: number
}

/** One question per line. Fails with `NotFound` and `Malformed`, which names the line. */
export const expectedAnswers = (path: string): Effect.Effect<ReadonlyArray<ExpectedAnswer>, RagError> =>
  Stream.runCollect(jsonLines(path, ExpectedAnswer))

/**
 * Ingests the folders into a library in a temporary folder with default options. Selects the questions about documents that
 * exist, and those without a document. Folders that do not exist are skipped.
 */
export const prepareQuestions: (options: {
  readonly questions: string
  readonly folders: ReadonlyArray<string>
}) => Effect.Effect<
  {
    readonly folder: string
    readonly library: LibraryService
    readonly questions: number
    readonly asked: ReadonlyArray<ExpectedAnswer>
    readonly missing: ReadonlyArray<string>
  },
  RagError,
  Models | Scope.Scope
> = Effect.fn("prepareQuestions")(function* ({ folders, questions: path }) {
  const questions = yield* expectedAnswers(path)
  const folder = join(yield* temporaryFolder, "library")
  const library = yield* Library.open(folder)
  for (const docs of folders) if (existsSync(docs)) yield* library.ingest(docs)
  const present = new Set((yield* library.documents).map(({ path }) => path))
  const wanted = new Set(questions.flatMap(({ document }) => document ?? []))
  return {
    folder,
    library,
    questions: questions.length,
    asked: questions.filter(({ document }) => document === undefined || present.has(document)),
    missing: [...wanted].filter((document) => !present.has(document))
  }
})

/**
 * Ingests the folders into a temporary library with default options, and asks the questions in order.
 *
 * **Details.** Folders that do not exist are skipped, with the questions about their documents. `onQuestion` is called after
 * each question.
 */
export const evaluateAnswers: (options: {
  readonly questions: string
  readonly folders: ReadonlyArray<string>
  readonly onQuestion?: (asked: number, of: number) => Effect.Effect<void>
}) => Effect.Effect<AnswerEvaluation, RagError, Models | Scope.Scope> = Effect.fn("evaluateAnswers")(
  function* ({ onQuestion = () => Effect.void, ...options }) {
    const { asked, library, missing, questions } = yield* prepareQuestions(options)
    const judged: Array<JudgedAnswer> = []
    const times: Array<number> = []
    for (const expected of asked) {
      const [duration, answer] = yield* Effect.timed(library.ask(expected.question))
      judged.push(judgeAnswer(expected, answer))
      times.push(Duration.toMillis(duration))
      yield* onQuestion(judged.length, asked.length)
    }
    return {
      questions,
      ran: judged.length,
      missing,
      all: scoreAnswers(judged),
      worked: scoreAnswers(judged.filter(({ heldOut }) => !heldOut)),
      heldOut: scoreAnswers(judged.filter(({ heldOut }) => heldOut)),
      byKind: Record.map(
        groupBy(judged, ({ kind }): string => kind),
        scoreAnswers
      ),
      failures: judged.filter((one) => !isRight(one)),
      p50Milliseconds: percentile(times, 0.5)
    }
  }
)
