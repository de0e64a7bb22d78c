/** Ask the documents. */
import { RagError } from "@sluice/rag"
import { Effect, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { AnswerEvent } from "../contract/Answer.ts"
import { ServerApi } from "../contract/ServerApi.ts"
import { CurrentBill, makeBill } from "../money/Bill.ts"
import { Ledger } from "../money/Ledger.ts"
import { endWithError, wantsEvents } from "./Events.ts"
import { keepingCaller } from "./Metered.ts"
import { ownDocuments } from "./OwnDocuments.ts"
import { toFilter } from "./QuestionFilter.ts"
import { ragFailure } from "./RagFailure.ts"
import { Shelves } from "./Shelves.ts"

const emptyQuestion = new RagError({
  stage: "retrieve",
  reason: "Empty",
  message: "The question is empty: ask something that the documents may answer",
  document: "question"
})

export const QaLayer = HttpApiBuilder.group(
  ServerApi,
  "qa",
  Effect.fn(function* (handlers) {
    const own = ownDocuments(yield* Shelves)
    const ledger = yield* Ledger

    /** What a question has cost once all its charges have ended; nothing where the ledger cannot say. */
    const costOf = (bill: ReturnType<typeof makeBill>) =>
      bill.charges.pipe(
        Effect.flatMap(ledger.taken),
        Effect.map((cost): { readonly cost?: number } => ({ cost })),
        Effect.catchTag("SqlError", ({ message }) =>
          Effect.as(Effect.logWarning(`What a question cost could not be read: ${message}`), {})
        )
      )

    return handlers.handleAll({
      ask: Effect.fn("qa.ask")(function* ({
        headers,
        payload: { collection, filter, question, recall, keep }
      }) {
        // Checked before the first event, so that callers of both kinds get the status.
        if (question.trim() === "") return yield* ragFailure(emptyQuestion)
        const library = yield* own.library({ collection })
        const only = toFilter(filter)
        const options = {
          ...(recall !== undefined && recall !== null && { recall }),
          ...(keep !== undefined && keep !== null && { keep }),
          ...(only !== undefined && { filter: only })
        }
        const bill = makeBill()
        if (!wantsEvents(headers)) {
          const answered = library.ask(question, options).pipe(Effect.provideService(CurrentBill, bill))
          const answer = yield* Effect.mapError(answered, ragFailure)
          return { ...answer, ...(yield* costOf(bill)) }
        }
        const events = library.askEvents(question, options).pipe(
          Stream.mapEffect((event): Effect.Effect<AnswerEvent> =>
            event.type === "answer"
              ? Effect.map(costOf(bill), (cost) => ({ ...event, answer: { ...event.answer, ...cost } }))
              : Effect.succeed(event)
          ),
          Stream.provideService(CurrentBill, bill)
        )
        return endWithError(yield* keepingCaller(events))
      })
    })
  })
)
