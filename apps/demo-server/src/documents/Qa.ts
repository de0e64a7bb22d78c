/** Questions about the documents: answers, and the passages alone. */
import type { Failure } from "@sluice/core/contract"
import type { ConversationOptions, Retrieval } from "@sluice/rag"
import { Effect, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { CurrentBill, makeBill } from "../billing/Bill.ts"
import { CurrentUser } from "../contract/Access.ts"
import type { AnswerBody, AnswerStreamEvent, RetrievalBody } from "../contract/Answer.ts"
import { Conversations } from "../conversations/Conversations.ts"
import { ServedApi } from "../http/ServedApi.ts"
import { endWithError, wantsEvents, withRagFailures } from "../libraries/RagFailure.ts"
import { makeCallerQuestions } from "./CallerQuestions.ts"

const webAddress = (url: unknown): string | undefined =>
  typeof url === "string" && /^https?:\/\//i.test(url) && URL.canParse(url) ? url : undefined

/** The kept passages with their ranks and scores, and the metadata of their documents. */
const passagesOf = ({ kept }: Retrieval): RetrievalBody["passages"] =>
  kept.map((passage, at) => {
    const { metadata, url = metadata?.["url"] } = passage.document
    const address = webAddress(url)
    return {
      ...passage,
      rank: at + 1,
      ...(metadata !== undefined && { metadata }),
      ...(address !== undefined && { url: address })
    }
  })

export const QaLayer = HttpApiBuilder.group(
  ServedApi,
  "qa",
  Effect.fn(function* (handlers) {
    const conversations = yield* Conversations
    const { costOf, prepare, prepareSummary, withCost } = yield* makeCallerQuestions

    return handlers.handleAll({
      ask: Effect.fn("qa.ask")(function* ({ headers, payload }) {
        const { question } = payload
        // Checked before the stream starts, so that streaming callers get the status too.
        const { library, options } = yield* prepare(payload, true)
        const { user } = yield* CurrentUser
        const { conversation: id, standalone, turn } = payload
        const open =
          typeof id === "string" ? yield* conversations.open(user, id, turn ?? undefined) : undefined
        const asked: ConversationOptions = {
          ...options,
          ...(open !== undefined && { history: open.history }),
          ...(typeof standalone === "string" && { standalone })
        }
        /** Keeps the answer, if it belongs to a conversation. */
        const kept = (answer: AnswerBody): Effect.Effect<AnswerBody> =>
          open === undefined ? Effect.succeed(answer) : conversations.keep(user, open, answer)
        if (!wantsEvents(headers)) return yield* kept(yield* withCost(library.ask(question, asked)))
        const bill = makeBill()
        const events = library.askEvents(question, asked).pipe(
          Stream.mapEffect((event): Effect.Effect<AnswerStreamEvent, Failure> =>
            event.type === "answer"
              ? Effect.flatMap(costOf(bill), (cost) =>
                  Effect.map(kept({ ...event.answer, ...cost }), (answer) => ({ ...event, answer }))
                )
              : Effect.succeed(event)
          ),
          Stream.provideService(CurrentBill, bill)
        )
        return endWithError(events)
      }, withRagFailures),
      summarise: Effect.fn("qa.summarise")(function* ({ payload }) {
        const { library, options, priced } = yield* prepareSummary(payload)
        if (payload.plan === true) return { plan: priced(yield* library.planSummary(options)) }
        const { plan, ...summary } = yield* withCost(library.summarise(options))
        return { ...summary, plan: priced(plan) }
      }, withRagFailures),
      retrieve: Effect.fn("qa.retrieve")(function* ({ payload }) {
        const { library, options } = yield* prepare(payload, false)
        const retrieval = yield* withCost(library.retrieve(payload.question, options))
        return {
          passages: passagesOf(retrieval),
          trace: retrieval.trace,
          ...(retrieval.cost !== undefined && { cost: retrieval.cost })
        }
      }, withRagFailures)
    })
  })
)
