/** Answers that are calculated from the rows of tables: of one column without a model, else by SQL of a chat model. */
import type { QuestionRewriter } from "@sluice/core"
import { Effect } from "effect"
import type { RagError } from "../document/RagError.ts"
import type { Retrieval } from "../retrieval/Retriever.ts"
import type { Collection } from "../store/PassageIndex.ts"
import { type SqlAttempt, sqlAnswer } from "./SqlAnswer.ts"
import { tableAnswer } from "./TableAnswer.ts"
import { mayBeCalculated, tableQuestion } from "./TableQuestion.ts"
import { type ReadDocument, recalledTables } from "./TableRows.ts"

/** Undefined if nothing was tried. */
export const calculate = Effect.fn("Calculation.calculate")(function* (
  question: string,
  retrieval: Retrieval,
  {
    collection,
    document,
    rewriter
  }: {
    readonly collection: Effect.Effect<Collection, RagError>
    readonly document: ReadDocument
    readonly rewriter: QuestionRewriter["Service"] | undefined
  }
): Effect.fn.Return<SqlAttempt | undefined, RagError> {
  // A call of the model is worth it only if a table is among the best passages.
  const hasTable = retrieval.kept.some(({ figure }) => figure?.kind === "table")
  const toSql = hasTable && mayBeCalculated(question) ? rewriter?.toSql : undefined
  if (toSql === undefined && tableQuestion(question) === undefined) return undefined
  const tables = yield* recalledTables(retrieval, yield* collection, document)
  const answer = tableAnswer(question, tables)
  if (answer !== undefined) return { answer, tokens: 0 }
  return toSql === undefined ? undefined : yield* sqlAnswer(question, tables, toSql)
})
