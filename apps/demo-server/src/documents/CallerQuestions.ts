/** Questions of the current caller: their library, their permission, and their cost. */
import { Embedder, Reader, Reranker } from "@sluice/core"
import { costOf as priceOf, NO_USAGE } from "@sluice/core/prices"
import type { SummaryOptions, SummaryPlan } from "@sluice/rag"
import { Context, Effect, Ref } from "effect"
import { CurrentCaller, mayUse, modelNotAllowed } from "../accounts/Caller.ts"
import { CurrentBill, makeBill } from "../billing/Bill.ts"
import { Ledger } from "../billing/Ledger.ts"
import { Prices } from "../billing/Prices.ts"
import type { QuestionRequest } from "../contract/Qa.ts"
import type { SummaryRequest } from "../contract/Summary.ts"
import { CurrentModels } from "../providers/CurrentModels.ts"
import { RunningQuestions } from "../libraries/RunningQuestions.ts"
import { makeCallerDocuments } from "./CallerDocuments.ts"
import { makeFilterCheck, makeQuestionChecks } from "./Questions.ts"

/** Each call reads `CurrentUser` and `CurrentCaller`. */
export const makeCallerQuestions = Effect.gen(function* () {
  const callerDocuments = yield* makeCallerDocuments
  const ledger = yield* Ledger
  const current = yield* CurrentModels
  const check = yield* makeQuestionChecks
  const running = yield* RunningQuestions
  const checkFilter = yield* makeFilterCheck
  const prices = yield* Prices

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
    /** Checks a summary, which needs only the reader. */
    prepareSummary: Effect.fnUntraced(function* ({
      collection,
      filter,
      method,
      question,
      sentences,
      tokens
    }: SummaryRequest) {
      const caller = yield* CurrentCaller
      const { id } = Context.get((yield* Ref.get(current)).context, Reader).model
      if (!mayUse(caller, id)) return yield* modelNotAllowed(id)
      const checked = yield* checkFilter(
        { collection, filter },
        Effect.flatMap(callerDocuments.library({ collection }), running.limit)
      )
      const options: SummaryOptions = {
        filter: checked.filter,
        method: method ?? undefined,
        question: question ?? undefined,
        sentences: sentences ?? undefined,
        tokens: tokens ?? undefined
      }
      /** The cost of the estimated tokens. A call costs at least one unit. */
      const priced = (plan: SummaryPlan) => {
        const usage = { ...NO_USAGE, inputTokens: plan.inputTokens, outputTokens: plan.outputTokens }
        const cost = plan.calls === 0 ? 0 : Math.max(plan.calls, priceOf(prices.of("chat", id), usage))
        return { ...plan, cost }
      }
      return { library: checked.library, options, priced }
    }),
    costOf,
    /** Adds the cost to a result. */
    withCost: Effect.fnUntraced(function* <A extends object, E, R>(result: Effect.Effect<A, E, R>) {
      const bill = makeBill()
      return { ...(yield* Effect.provideService(result, CurrentBill, bill)), ...(yield* costOf(bill)) }
    })
  }
})
