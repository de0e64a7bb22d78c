/** Questions about the documents. */
import { Effect, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { CurrentBill, makeBill } from "../billing/Bill.ts"
import type { AnswerStreamEvent } from "../contract/Answer.ts"
import { ServerApi } from "../contract/ServerApi.ts"
import { endWithError, wantsEvents, withRagFailures } from "../libraries/RagFailure.ts"
import { makeCallerQuestions } from "./CallerQuestions.ts"

export const QaLayer = HttpApiBuilder.group(
  ServerApi,
  "qa",
  Effect.fn(function* (handlers) {
    const { costOf, prepare, withCost } = yield* makeCallerQuestions

    return handlers.handleAll({
      ask: Effect.fn("qa.ask")(function* ({ headers, payload }) {
        const { question } = payload
        // Checked before the stream starts, so that streaming callers get the status too.
        const { library, options } = yield* prepare(payload, true)
        if (!wantsEvents(headers)) return yield* withCost(library.ask(question, options))
        const bill = makeBill()
        const events = library.askEvents(question, options).pipe(
          Stream.mapEffect((event): Effect.Effect<AnswerStreamEvent> =>
            event.type === "answer"
              ? Effect.map(costOf(bill), (cost) => ({ ...event, answer: { ...event.answer, ...cost } }))
              : Effect.succeed(event)
          ),
          Stream.provideService(CurrentBill, bill)
        )
        return endWithError(events)
      }, withRagFailures)
    })
  })
)
