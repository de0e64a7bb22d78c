/**
 * Chat by a reader of this process: it answers with sentences of the text in the messages, and writes none of its own.
 */
import type { ChatEvent, ChatRequest, ChatResponse } from "@sluice/core/contract"
import { type CitedSentence, type GatewayError, InvalidRequest, type Reader } from "@sluice/core"
import { countTokens } from "@sluice/embedded"
import { Effect, Stream } from "effect"
import type { Operation } from "../routing/Provider.ts"
import { answer } from "./ChatAnswer.ts"
import { type Conversation, hasImage, readConversation, textOf } from "./Conversation.ts"
import { refusing } from "./Refusing.ts"

/** What `GatewayReader` of `@sluice/core` wants to hear when the passages do not answer. */
const NOT_FOUND = "NOT_FOUND"

/** Characters of all messages at most: the reader looks at all of them before its first sentence. */
export const MAX_CHARACTERS = 1_000_000

const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

/** What is said instead of an answer, in the question's language. */
const nothingFound = (question: string, model: string): string =>
  CJK.test(question)
    ? `消息里的文字没有回答这个问题。（${model} 是摘取式模型：只用消息里原有的句子作答。）`
    : `The text in these messages does not answer that. (${model} is extractive: it answers with sentences of the text that it is given.)`

/** One sentence as prose, or as the line of JSON that a caller with numbered passages reads. */
const write = ({ cited }: Conversation, { text, evidence }: CitedSentence, position: number): string => {
  if (cited) {
    const citations = evidence.map(({ passage, quote }) => ({ passage: passage + 1, quote }))
    return `${JSON.stringify({ text, citations })}\n`
  }
  return position === 0 || CJK.test(text.slice(0, 1)) ? text : ` ${text}`
}

/** Sentence by sentence. */
const pieces = (reader: Reader["Service"], { messages, model }: ChatRequest) => {
  const conversation = readConversation(messages)
  const { question, passages, cited } = conversation
  return reader.read(question, passages).pipe(
    Stream.zipWithIndex,
    Stream.map(([sentence, position]) => write(conversation, sentence, position)),
    Stream.orElseIfEmpty(() => Stream.succeed(cited ? NOT_FOUND : nothingFound(question, model)))
  )
}

/** The error of messages that a model does not take. */
export const refusedMessages = (model: string, message: string, code?: string): GatewayError =>
  refusing("chat", model)(new InvalidRequest({ message, param: "messages", code }))

/** Fails where the messages have more text than a model of this process reads. */
export const checkLength = ({ messages, model }: ChatRequest): Effect.Effect<void, GatewayError> => {
  const characters = messages.reduce((sum, message) => sum + textOf(message).length, 0)
  if (characters <= MAX_CHARACTERS) return Effect.void
  const message = `The messages have ${characters} characters: ${model} reads ${MAX_CHARACTERS} at most. Send less`
  return Effect.fail(refusedMessages(model, message, "context_length_exceeded"))
}

/** The tokens of a message's text. */
export const textTokens = ({ messages }: ChatRequest): number =>
  messages.reduce((sum, message) => sum + countTokens(textOf(message)), 0)

/** Answers from the text of the messages; `sees` is the model to name to whoever sends an image. */
export const chat =
  (
    reader: Reader["Service"],
    sees: string
  ): Operation<ChatRequest, ChatResponse | Stream.Stream<ChatEvent>> =>
  ({ request }) =>
    Effect.gen(function* () {
      const { messages, model } = request
      if (messages.some(hasImage)) {
        const message = `${model} reads text only: it does not understand images. Use ${sees}, or send text`
        return yield* refusedMessages(model, message, "image_input_not_supported")
      }
      yield* checkLength(request)
      return yield* answer(request, {
        model,
        promptTokens: textTokens(request),
        pieces: pieces(reader, request)
      })
    })
