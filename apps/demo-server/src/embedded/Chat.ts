/** Chat by the embedded reader, which answers with sentences from the messages. */
import type { ChatEvent, ChatRequest, ChatResponse } from "@sluice/core/contract"
import { type GatewayError, InvalidRequest, type Reader } from "@sluice/core"
import { type CitedSentence, isCitedSentence } from "@sluice/core/models"
import { WorkerUser } from "@sluice/core/workers"
import { countTokensOf } from "@sluice/embedded"
import { Effect, Stream } from "effect"
import { constant } from "effect/Function"
import type { Operation } from "../routing/Provider.ts"
import { chatResponse } from "./ChatAnswer.ts"
import { type Conversation, hasImage, messageText, readConversation } from "./Conversation.ts"
import { checkQuestion, rejectedBy } from "./InvalidRequests.ts"

/** The reply that `GatewayReader` of `@sluice/core` expects if the passages do not answer. */
const NOT_FOUND = "NOT_FOUND"

/** Characters of all messages at most. The reader reads all of them before its first sentence. */
export const MAX_CHARACTERS = 1_000_000

const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

/** The reply without an answer, in the question's language. */
const nothingFound = (question: string, model: string): string =>
  CJK.test(question)
    ? `消息里的文字没有回答这个问题。（${model} 是摘取式模型：只用消息里原有的句子作答。）`
    : `The text in these messages does not answer that. (${model} is extractive: it answers with sentences from the messages.)`

/** A sentence as prose, or as the line of JSON that a caller with numbered passages expects. */
const formatSentence = (
  { cited }: Conversation,
  { text, evidence }: CitedSentence,
  position: number
): string => {
  if (cited) {
    const citations = evidence.map(({ passage, quote }) => ({ passage: passage + 1, quote }))
    return `${JSON.stringify({ text, citations })}\n`
  }
  return position === 0 || CJK.test(text.slice(0, 1)) ? text : ` ${text}`
}

/** The reply, sentence by sentence. */
const replyOf = (reader: Reader["Service"], model: string, conversation: Conversation) => {
  const { question, passages, cited } = conversation
  return reader.read(question, passages).pipe(
    Stream.filter(isCitedSentence),
    Stream.zipWithIndex,
    Stream.map(([sentence, position]) => formatSentence(conversation, sentence, position)),
    Stream.orElseIfEmpty(() => Stream.succeed(cited ? NOT_FOUND : nothingFound(question, model)))
  )
}

/** The error for messages that a model rejects. */
export const messagesRejected = (model: string, message: string, code?: string): GatewayError =>
  rejectedBy("chat", model)(new InvalidRequest({ message, param: "messages", code }))

/** Messages at most. */
const MAX_MESSAGES = 4_096

/** Fails if the messages are more, or have more text, than an embedded model accepts. */
export const checkLength = ({ messages, model }: ChatRequest): Effect.Effect<void, GatewayError> => {
  const characters = messages.reduce((sum, message) => sum + messageText(message).length, 0)
  if (characters <= MAX_CHARACTERS && messages.length <= MAX_MESSAGES) return Effect.void
  const message = `There are ${messages.length} messages of ${characters} characters. The maximum of ${model} is ${MAX_MESSAGES} of ${MAX_CHARACTERS}`
  return Effect.fail(messagesRejected(model, message, "context_length_exceeded"))
}

/** The tokens of all messages' text. */
export const textTokens = ({ messages }: ChatRequest): Effect.Effect<number, GatewayError> =>
  countTokensOf(messages.map(messageText))

/** `visionModel`: the model that the error for images recommends. */
export const textChat =
  (
    reader: Reader["Service"],
    visionModel: string
  ): Operation<ChatRequest, ChatResponse | Stream.Stream<ChatEvent>> =>
  ({ request, user }) =>
    Effect.gen(function* () {
      const { messages, model } = request
      if (messages.some(hasImage)) {
        const message = `${model} reads text only. Use ${visionModel} for images`
        return yield* messagesRejected(model, message, "image_input_not_supported")
      }
      yield* checkLength(request)
      const conversation = readConversation(messages)
      yield* Effect.mapError(checkQuestion(conversation.question, "messages"), rejectedBy("chat", model))
      return yield* chatResponse(request, {
        model,
        promptTokens: constant(yield* textTokens(request)),
        pieces: Stream.provideService(replyOf(reader, model, conversation), WorkerUser, user)
      })
    })
