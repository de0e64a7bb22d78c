/** Answers that are calculated from the rows of tables: of one column without a model, else by SQL of a chat model. */
import type { QuestionRewriter } from "@sluice/core"
import { Duration, Effect } from "effect"
import type { RagError } from "../document/RagError.ts"
import type { Retrieval } from "../retrieval/Retriever.ts"
import type { Collection } from "../store/PassageIndex.ts"
import type { StageTime } from "../retrieval/stages/Trace.ts"
import { type SqlAttempt, sqlAnswer } from "./SqlAnswer.ts"
import { type TableAnswer, tableAnswer } from "./TableAnswer.ts"
import { mayBeCalculated, tableQuestion } from "./TableQuestion.ts"
import { MAX_CITED, type ReadDocument, recalledTables } from "./TableRows.ts"

/** What tables are read with, and by what. */
interface CalculationSources {
  readonly collection: Effect.Effect<Collection, RagError>
  readonly document: ReadDocument
  readonly rewriter: QuestionRewriter["Service"] | undefined
}

const attempt = Effect.fn("Calculation.attempt")(function* (
  question: string,
  retrieval: Retrieval,
  { collection, document, rewriter }: CalculationSources
): Effect.fn.Return<SqlAttempt | undefined, RagError> {
  // A call of the model is worth it only if a table is among the best passages.
  const hasTable = retrieval.kept.some(({ figure }) => figure?.kind === "table")
  const toSql = hasTable && mayBeCalculated(question) ? rewriter?.toSql : undefined
  if (toSql === undefined && tableQuestion(question) === undefined) return undefined
  // SQL may answer from single lines of a longer table.
  const pieces = toSql === undefined ? MAX_CITED : Infinity
  const tables = yield* recalledTables(retrieval, yield* collection, document, pieces)
  const answer = tableAnswer(question, tables)
  if (answer !== undefined) return { answer, tokens: 0 }
  return toSql === undefined ? undefined : yield* sqlAnswer(question, tables, toSql)
})

/** The answer, and the stage that the trace has. Without an answer the question is read. Undefined if nothing was tried. */
export const calculate = Effect.fn("Calculation.calculate")(function* (
  question: string,
  retrieval: Retrieval,
  sources: CalculationSources
): Effect.fn.Return<{ readonly answer?: TableAnswer; readonly stage: StageTime } | undefined, RagError> {
  const [duration, tried] = yield* Effect.timed(attempt(question, retrieval, sources))
  if (tried === undefined) return undefined
  const { answer, failed, sql, tokens } = tried
  const stage: StageTime = {
    stage: "calculate",
    milliseconds: Duration.toMillis(duration),
    ...(tokens > 0 && { tokens }),
    ...(sql !== undefined && { sql }),
    ...(failed !== undefined && { failed })
  }
  return { ...(answer !== undefined && { answer }), stage }
})
