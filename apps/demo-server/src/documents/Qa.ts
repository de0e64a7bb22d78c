/** Ask the documents. */
import { Embedder, Reader, Reranker } from "@sluice/core"
import { Failure } from "@sluice/core/contract"
import { RagError, RECALL } from "@sluice/rag"
import { Effect, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Caller, mayUse, modelNotAllowed } from "../accounts/Caller.ts"
import type { AnswerStreamEvent } from "../contract/Answer.ts"
import { DEFAULT_COLLECTION } from "../contract/Collections.ts"
import { ServerApi } from "../contract/ServerApi.ts"
import { CurrentBill, makeBill } from "../billing/Bill.ts"
import { Ledger } from "../billing/Ledger.ts"
import { namesDocuments, nonsenseIn, unknownIn } from "./CheckFilter.ts"
import { endWithError, wantsEvents } from "./Events.ts"
import { keepingCaller } from "../libraries/BilledModels.ts"
import { ownDocuments } from "./CallerDocuments.ts"
import { toFilter } from "./QuestionFilter.ts"
import { ragFailure } from "../libraries/RagFailure.ts"
import { Shelves } from "../libraries/UserLibraries.ts"

const emptyQuestion = new RagError({
  stage: "retrieve",
  reason: "Empty",
  message: "The question is empty: ask something that the documents may answer",
  document: "question"
})

const keepsMore = (keep: number, recall: number) =>
  new Failure({
    status: 400,
    message: `\`keep\` is ${keep}, and no more than ${recall} passages are recalled: ask for a larger \`recall\``,
    param: "keep",
    retryable: false
  })

export const QaLayer = HttpApiBuilder.group(
  ServerApi,
  "qa",
  Effect.fn(function* (handlers) {
    const own = ownDocuments(yield* Shelves)
    const ledger = yield* Ledger
    const models = [yield* Embedder, yield* Reranker, yield* Reader].map(({ model }) => model.id)

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
        if ((keep ?? 0) > (recall ?? RECALL)) return yield* keepsMore(keep ?? 0, recall ?? RECALL)
        const nonsense = nonsenseIn(filter)
        if (nonsense !== undefined) return yield* nonsense
        // Before the first of them is paid.
        const caller = yield* Caller
        const denied = models.find((model) => !mayUse(caller, model))
        if (denied !== undefined) return yield* modelNotAllowed(denied)
        const library = yield* own.library({ collection })
        if (namesDocuments(filter)) {
          const there = yield* Effect.mapError(library.documents, ragFailure)
          const unknown = unknownIn(filter, collection ?? DEFAULT_COLLECTION, there)
          if (unknown !== undefined) return yield* unknown
        }
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
          Stream.mapEffect((event): Effect.Effect<AnswerStreamEvent> =>
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
