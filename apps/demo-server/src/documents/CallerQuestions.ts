/** Questions of the current caller: their library, their permission, and their cost. */
import { Embedder, Reader, Reranker } from "@sluice/core"
import { Context, Effect, Ref } from "effect"
import { CurrentCaller, mayUse, modelNotAllowed } from "../accounts/Caller.ts"
import { CurrentBill, makeBill } from "../billing/Bill.ts"
import { Ledger } from "../billing/Ledger.ts"
import type { QuestionRequest } from "../contract/Qa.ts"
import { CurrentModels } from "../providers/CurrentModels.ts"
import { RunningQuestions } from "../libraries/RunningQuestions.ts"
import { makeCallerDocuments } from "./CallerDocuments.ts"
import { makeQuestionChecks } from "./Questions.ts"

/** Each call reads `CurrentUser` and `CurrentCaller`. */
export const makeCallerQuestions = Effect.gen(function* () {
  const callerDocuments = yield* makeCallerDocuments
  const ledger = yield* Ledger
  const current = yield* CurrentModels
  const check = yield* makeQuestionChecks
  const running = yield* RunningQuestions

  /** Fails if the caller's key lacks a model. All are checked before the first is charged. */
  const checkModels = Effect.fnUntraced(function* (isAnswered: boolean) {
    const caller = yield* CurrentCaller
    const { context } = yield* Ref.get(current)
    const models = [
      Context.get(context, Embedder).model,
      Context.get(context, Reranker).model,
      ...(isAnswered ? [Context.get(context, Reader).model] : [])
    ]
    const denied = models.find(({ id }) => !mayUse(caller, id))
    if (denied !== undefined) return yield* modelNotAllowed(denied.id)
  })

  /** The cost of a question, once all its charges have ended; absent if the ledger cannot be read. */
  const costOf = (bill: ReturnType<typeof makeBill>) =>
    bill.charges.pipe(
      Effect.flatMap(ledger.taken),
      Effect.map((cost): { readonly cost?: number } => ({ cost })),
      Effect.catchTag("SqlError", ({ message }) =>
        Effect.as(Effect.logWarning(`The cost of a question could not be read: ${message}`), {})
      )
    )

  return {
    /** Checks a question. `isAnswered` is false for a retrieval, which needs no reader. */
    prepare: (request: QuestionRequest, isAnswered: boolean) =>
      check(
        request,
        checkModels(isAnswered).pipe(
          Effect.andThen(callerDocuments.library(request)),
          Effect.flatMap(running.limit)
        )
      ),
    costOf,
    /** Adds the cost to a result. */
    withCost: Effect.fnUntraced(function* <A extends object, E, R>(result: Effect.Effect<A, E, R>) {
      const bill = makeBill()
      return { ...(yield* Effect.provideService(result, CurrentBill, bill)), ...(yield* costOf(bill)) }
    })
  }
})
