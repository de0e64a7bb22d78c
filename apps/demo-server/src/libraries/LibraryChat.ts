/** A library as a chat model: `sluice/<collection>` answers the last question from the caller's documents, with citations. */
import { GatewayError } from "@sluice/core"
import { type ChatRequest, Failure, InvalidRequest, reasonOfStatus } from "@sluice/core/contract"
import { WorkerUser } from "@sluice/core/workers"
import { NO_USAGE } from "@sluice/core/prices"
import { countTokens } from "@sluice/embedded"
import type { Answer } from "@sluice/rag"
import { Effect, Exit, Scope, Sink, Stream } from "effect"
import { CurrentCaller } from "../accounts/Caller.ts"
import { CurrentBill, makeBill } from "../billing/Bill.ts"
import { Ledger } from "../billing/Ledger.ts"
import type { Meter } from "../billing/Meter.ts"
import { DEFAULT_COLLECTION } from "../contract/Names.ts"
import { messagesRejected } from "../embedded/Chat.ts"
import { chatResponse } from "../embedded/ChatAnswer.ts"
import { hasImage, messageText } from "../embedded/Conversation.ts"
import { checkQuestion, rejectedBy } from "../embedded/InvalidRequests.ts"
import type { Provider } from "../routing/Provider.ts"
import { warnOfSqlError } from "../sql/StoreFailure.ts"
import { makeChatCitations } from "./ChatCitations.ts"
import { chatHistory } from "./ChatHistory.ts"
import { chatTaskReply } from "./ChatTasks.ts"
import { makeOpenForUser } from "./OpenForUser.ts"
import { ragFailure } from "./RagFailure.ts"
import { RunningQuestions } from "./RunningQuestions.ts"

const NAME = "sluice"

/** The model that answers from a collection. */
export const libraryModel = (collection: string): string => `${NAME}/${collection}`

/** The full name of a library's model: `sluice` is that of the default collection. Undefined for other models. */
export const libraryModelOf = (model: string): string | undefined =>
  model === NAME ? libraryModel(DEFAULT_COLLECTION) : model.startsWith(`${NAME}/`) ? model : undefined

/** The call itself is free: the calls of the library's models are billed. */
export const libraryMeter: Meter<ChatRequest> = {
  operation: "chat",
  creates: false,
  most: () => NO_USAGE,
  countUsage: () => NO_USAGE
}

/** The answer could not be read. A sentence that says so would read as an answer. */
const notRead = (model: string, { notRead }: Answer): GatewayError =>
  new GatewayError({
    operation: "chat",
    model,
    reason: reasonOfStatus({
      status: 502,
      message:
        `${notRead?.message ?? "The model's answer could not be read."} ${notRead?.advice ?? ""}`.trim(),
      shouldRetry: false
    })
  })

/** Waits for the first piece of a stream, so that an error before it becomes the response's status. */
const begun = <A, E>(pieces: Stream.Stream<A, E>): Effect.Effect<Stream.Stream<A, E>, E> =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const [first, rest] = yield* Stream.peel(pieces, Sink.take<A>(1)).pipe(
      Scope.provide(scope),
      Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : Scope.close(scope, exit)))
    )
    return Stream.ensuring(Stream.concat(Stream.fromIterable(first), rest), Scope.close(scope, Exit.void))
  })

/** The provider of the libraries' models, each for the user who calls it. */
export const makeLibraryProvider = Effect.gen(function* () {
  const ledger = yield* Ledger
  const running = yield* RunningQuestions
  const openForUser = yield* makeOpenForUser

  const chat: NonNullable<Provider["operations"]["chat"]> = Effect.fnUntraced(function* ({
    origin,
    request,
    user
  }) {
    const { messages, model } = request
    const asked = messages.findLast(({ role }) => role === "user")
    const question = asked === undefined ? "" : messageText(asked).trim()
    const task = chatTaskReply(question)
    if (task !== undefined) {
      return yield* chatResponse(request, { model, promptTokens: () => 0, pieces: Stream.make(task) })
    }
    if (question === "") {
      return yield* messagesRejected(model, "The last message of the user is empty. Send a question")
    }
    if (asked !== undefined && hasImage(asked)) {
      const message = `${model} reads text only. Leave the image out`
      return yield* messagesRejected(model, message, "image_input_not_supported")
    }
    yield* Effect.mapError(checkQuestion(question, "messages"), rejectedBy("chat", model))
    if ((request.n ?? 1) > 1) {
      const reason = new InvalidRequest({ message: `${model} has one answer: leave \`n\` out`, param: "n" })
      return yield* rejectedBy("chat", model)(reason)
    }

    const toChatError = (failure: Failure) =>
      new GatewayError({ operation: "chat", model, reason: reasonOfStatus(failure) })
    const toError = (error: Parameters<typeof ragFailure>[0]) => toChatError(ragFailure(error))
    const collection = model.slice(libraryModel("").length)
    const library = yield* openForUser(user, collection, "read").pipe(
      Effect.flatMap(({ library }) => library),
      Effect.mapError((error) => (error instanceof Failure ? toChatError(error) : toError(error))),
      Effect.flatMap((library) => Effect.mapError(running.limit(library), toChatError))
    )
    const { fields, piece } = makeChatCitations(origin, collection)
    const bill = makeBill()
    let promptTokens = countTokens(question)
    const countPrompt = bill.charges.pipe(
      Effect.flatMap(ledger.inputTokens),
      Effect.map((tokens) => void (promptTokens = tokens)),
      warnOfSqlError("The tokens of a question")
    )
    // The key's models name this one. Which models the library itself uses is the server's matter.
    const caller = { ...(yield* CurrentCaller), models: undefined }
    const context = yield* Effect.context<never>()
    const pieces = library.askEvents(question, { history: chatHistory(messages) }).pipe(
      Stream.mapError(toError),
      Stream.mapEffect((event) => {
        if (event.type !== "answer") return Effect.succeed(piece(event))
        if (event.answer.outcome === "unread") return Effect.fail(notRead(model, event.answer))
        return Effect.as(countPrompt, piece(event))
      }),
      Stream.filter((text) => text !== ""),
      Stream.provideService(CurrentCaller, caller),
      Stream.provideService(WorkerUser, user),
      Stream.provideService(CurrentBill, {
        open: bill.open,
        // The request is already counted once.
        callCount: () => ({ ...bill.callCount(), requests: bill.callCount().requests + 1 })
      }),
      Stream.provideContext(context)
    )
    return yield* chatResponse(request, {
      model,
      promptTokens: () => promptTokens,
      pieces: yield* begun(pieces),
      fields
    })
  })

  return { id: NAME, models: [], anyModelOf: ["chat"], operations: { chat } } satisfies Provider
})
