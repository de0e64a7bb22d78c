/** Measures how well questions about documents are answered, cited, or left unanswered. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { Duration, Effect, type Scope, Stream } from "effect"
import { Library, type Models } from "../library/Library.ts"
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
  function* ({ folders, onQuestion = () => Effect.void, questions: path }) {
    const questions = yield* expectedAnswers(path)
    const library = yield* Library.open(join(yield* temporaryFolder, "library"))
    for (const folder of folders) if (existsSync(folder)) yield* library.ingest(folder)
    const present = new Set((yield* library.documents).map(({ path }) => path))
    const wanted = new Set(questions.flatMap(({ document }) => document ?? []))
    const asked = questions.filter(({ document }) => document === undefined || present.has(document))
    const judged: Array<JudgedAnswer> = []
    const times: Array<number> = []
    for (const expected of asked) {
      const [duration, answer] = yield* Effect.timed(library.ask(expected.question))
      judged.push(judgeAnswer(expected, answer))
      times.push(Duration.toMillis(duration))
      yield* onQuestion(judged.length, asked.length)
    }
    const kinds = [...new Set(judged.map(({ kind }) => kind))]
    return {
      questions: questions.length,
      ran: judged.length,
      missing: [...wanted].filter((document) => !present.has(document)),
      all: scoreAnswers(judged),
      worked: scoreAnswers(judged.filter(({ heldOut }) => !heldOut)),
      heldOut: scoreAnswers(judged.filter(({ heldOut }) => heldOut)),
      byKind: Object.fromEntries(
        kinds.map((kind) => [kind, scoreAnswers(judged.filter((one) => one.kind === kind))])
      ),
      failures: judged.filter((one) => !isRight(one)),
      p50Milliseconds: times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0
    }
  }
)
