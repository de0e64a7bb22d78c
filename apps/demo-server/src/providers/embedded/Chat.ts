/**
 * Chat by a reader of this process: it answers with sentences of the text in the messages, and writes none of its own.
 */
import {
  type ChatChunk,
  type ChatEvent,
  type ChatRequest,
  type ChatResponse,
  type CitedSentence,
  DONE,
  Failure,
  GatewayError,
  InvalidRequest,
  type Reader
} from "@sluice/core"
import { countTokens } from "@sluice/embedded"
import { Clock, Effect, Stream } from "effect"
import { randomUUID } from "node:crypto"
import type { Operation } from "../Provider.ts"
import { type Conversation, hasImage, readConversation, textOf } from "./Conversation.ts"

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

/** The answer piece by piece, cut before the sentence that would go over `max_tokens`. */
const pieces = (reader: Reader["Service"], request: ChatRequest) => {
  const conversation = readConversation(request.messages)
  const { question, passages, cited } = conversation
  const limit = request.max_tokens ?? Infinity
  let completionTokens = 0
  let cut = false
  const text = reader.read(question, passages).pipe(
    Stream.zipWithIndex,
    Stream.map(([sentence, position]) => write(conversation, sentence, position)),
    Stream.orElseIfEmpty(() => Stream.succeed(cited ? NOT_FOUND : nothingFound(question, reader.model.id))),
    Stream.takeWhile((piece) => {
      const tokens = completionTokens + countTokens(piece)
      cut = tokens > limit
      if (!cut) completionTokens = tokens
      return !cut
    })
  )
  const promptTokens = request.messages.reduce((sum, message) => sum + countTokens(textOf(message)), 0)
  return {
    text,
    finish: () => (cut ? "length" : "stop"),
    usage: () => ({
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens
    })
  }
}

const event = (data: ChatEvent["data"]): ChatEvent => ({ id: undefined, event: "message", data })

/** Whole, or with `stream: true` as events that end in `[DONE]`. */
export const chat = (
  reader: Reader["Service"]
): Operation<ChatRequest, ChatResponse | Stream.Stream<ChatEvent>> => {
  const model = reader.model.id
  return Effect.fnUntraced(function* ({ request }) {
    if (request.messages.some(hasImage)) {
      return yield* new GatewayError({
        operation: "chat",
        model,
        reason: new InvalidRequest({
          message: `${model} reads text only: it does not understand images. Send text, or use a gateway with a multimodal model`,
          param: "messages",
          code: "image_input_not_supported"
        })
      })
    }
    const characters = request.messages.reduce((sum, message) => sum + textOf(message).length, 0)
    if (characters > MAX_CHARACTERS) {
      return yield* new GatewayError({
        operation: "chat",
        model,
        reason: new InvalidRequest({
          message: `The messages have ${characters} characters: ${model} reads ${MAX_CHARACTERS} at most. Send less`,
          param: "messages",
          code: "context_length_exceeded"
        })
      })
    }
    const head = {
      id: `chatcmpl-${randomUUID()}`,
      created: Math.floor((yield* Clock.currentTimeMillis) / 1000),
      model
    }
    const answer = pieces(reader, request)
    if (request.stream !== true) {
      const content = yield* Stream.mkString(answer.text)
      return {
        ...head,
        object: "chat.completion",
        choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: answer.finish() }],
        usage: answer.usage()
      }
    }
    const chunk = (choice: Omit<ChatChunk["choices"][number], "index">): ChatChunk => ({
      ...head,
      object: "chat.completion.chunk",
      choices: [{ index: 0, ...choice }]
    })
    const end = Stream.suspend(() =>
      Stream.make<Array<ChatEvent["data"]>>(
        chunk({ delta: {}, finish_reason: answer.finish() }),
        ...(request.stream_options?.include_usage === true
          ? [{ ...head, object: "chat.completion.chunk", choices: [], usage: answer.usage() }]
          : []),
        DONE
      )
    )
    return Stream.make<Array<ChatEvent["data"]>>(chunk({ delta: { role: "assistant", content: "" } })).pipe(
      Stream.concat(Stream.map(answer.text, (content): ChatEvent["data"] => chunk({ delta: { content } }))),
      Stream.concat(end),
      Stream.catch((error) => Stream.make<Array<ChatEvent["data"]>>(Failure.fromReason(error.reason).body)),
      Stream.map(event)
    )
  })
}
