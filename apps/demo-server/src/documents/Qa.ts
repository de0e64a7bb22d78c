/** Questions about the documents. */
import { Embedder, Reader, Reranker } from "@sluice/core"
import { Failure } from "@sluice/core/contract"
import { DocumentFormats, RagError, RECALL, RetrievalStages, retrieveOptionsSchema } from "@sluice/rag"
import { Context, Effect, Ref, Schema, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { CurrentCaller, mayUse, modelNotAllowed } from "../accounts/Caller.ts"
import type { AnswerStreamEvent } from "../contract/Answer.ts"
import { DEFAULT_COLLECTION } from "../contract/Names.ts"
import { ServerApi } from "../contract/ServerApi.ts"
import { CurrentBill, makeBill } from "../billing/Bill.ts"
import { Ledger } from "../billing/Ledger.ts"
import { invalidFilter, namesDocuments, toFilter, unknownNames } from "./QuestionFilter.ts"
import { CurrentModels } from "../providers/CurrentModels.ts"
import { makeCallerDocuments } from "./CallerDocuments.ts"
import { endWithError, wantsEvents, withRagFailures } from "../libraries/RagFailure.ts"

const emptyQuestion = new RagError({
  stage: "retrieve",
  reason: "Empty",
  message: "The question is empty",
  document: "question"
})

/** Options that are fields of the request. */
const REQUEST_FIELDS = ["recall", "keep", "filter"]

const malformed = (message: string, param: string) => new Failure({ status: 400, message, param })
const malformedOptions = ({ message }: { readonly message: string }) =>
  malformed(`\`options\`: ${message}`, "options")

export const QaLayer = HttpApiBuilder.group(
  ServerApi,
  "qa",
  Effect.fn(function* (handlers) {
    const callerDocuments = yield* makeCallerDocuments
    const ledger = yield* Ledger
    const current = yield* CurrentModels

    const decode = Schema.decodeUnknownEffect(retrieveOptionsSchema(yield* RetrievalStages))
    /** Decodes the options of the registered stages. */
    const decodeOptions = (options: Readonly<Record<string, unknown>>) => {
      const field = REQUEST_FIELDS.find((name) => Object.hasOwn(options, name))
      return field === undefined
        ? Effect.mapError(decode(options, { onExcessProperty: "error" }), malformedOptions)
        : Effect.fail(malformedOptions({ message: `set \`${field}\` beside \`options\`, not in it` }))
    }

    /** The cost of a question, once all its charges have ended; absent if the ledger cannot be read. */
    const costOf = (bill: ReturnType<typeof makeBill>) =>
      bill.charges.pipe(
        Effect.flatMap(ledger.taken),
        Effect.map((cost): { readonly cost?: number } => ({ cost })),
        Effect.catchTag("SqlError", ({ message }) =>
          Effect.as(Effect.logWarning(`The cost of a question could not be read: ${message}`), {})
        )
      )

    const formats = (yield* DocumentFormats).map(({ id }) => id)

    return handlers.handleAll({
      ask: Effect.fn("qa.ask")(function* ({
        headers,
        payload: { collection, filter, question, recall, keep, context, verify, options: others }
      }) {
        // Checked before the stream starts, so that streaming callers get the status too.
        if (question.trim() === "") return yield* emptyQuestion
        const most = recall ?? RECALL
        if ((keep ?? 0) > most)
          return yield* malformed(
            `\`keep\` is ${keep}, more than \`recall\` (${most}). Set a larger \`recall\``,
            "keep"
          )
        const invalid = invalidFilter(filter, formats)
        if (invalid !== undefined) return yield* invalid
        // All models are checked before the first is charged.
        const caller = yield* CurrentCaller
        const { context: services } = yield* Ref.get(current)
        const models = [
          Context.get(services, Embedder),
          Context.get(services, Reranker),
          Context.get(services, Reader)
        ]
        const denied = models.map(({ model }) => model.id).find((model) => !mayUse(caller, model))
        if (denied !== undefined) return yield* modelNotAllowed(denied)
        const library = yield* callerDocuments.library({ collection })
        if (namesDocuments(filter)) {
          const documents = yield* library.documents
          const unknown = unknownNames(filter, collection ?? DEFAULT_COLLECTION, documents)
          if (unknown !== undefined) return yield* unknown
        }
        const typed = toFilter(filter)
        const options = {
          ...(yield* decodeOptions(others ?? {})),
          ...(recall !== undefined && recall !== null && { recall }),
          ...(keep !== undefined && keep !== null && { keep }),
          ...(context !== undefined && context !== null && { context }),
          ...(verify !== undefined && verify !== null && { verify }),
          ...(typed !== undefined && { filter: typed })
        }
        const bill = makeBill()
        if (!wantsEvents(headers)) {
          const answer = yield* Effect.provideService(library.ask(question, options), CurrentBill, bill)
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
        return endWithError(events)
      }, withRagFailures)
    })
  })
)
