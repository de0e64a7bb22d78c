/** Turns a reply that comes piece by piece into a chat completion, or into its stream of events. */
import {
  type ChatChunk,
  type ChatEvent,
  type ChatRequest,
  type ChatResponse,
  DONE,
  Failure
} from "@sluice/core/contract"
import { type GatewayError, InvalidRequest } from "@sluice/core"
import { countTokens } from "@sluice/embedded"
import { Clock, Effect, type Schema, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { rejectedBy } from "./InvalidRequests.ts"

/** The reply of a model of this server, before it is cut to `max_tokens`. */
interface ChatReply {
  readonly model: string
  /** Called when the pieces have ended. */
  readonly promptTokens: () => number
  readonly pieces: Stream.Stream<string, GatewayError>
  /** Further fields of the message, whose text has `length` characters. Called when the text has ended. */
  readonly fields?: (length: number) => Readonly<Record<string, Schema.Json>>
}

/** Cuts a reply before the piece that would exceed the limit. */
const truncate = ({ fields, pieces, promptTokens }: ChatReply, limit: number) => {
  let completionTokens = 0
  let length = 0
  let cut = false
  return {
    text: Stream.takeWhile(pieces, (piece) => {
      const tokens = completionTokens + countTokens(piece)
      cut = tokens > limit
      if (cut) return false
      completionTokens = tokens
      length += piece.length
      return true
    }),
    extra: () => (fields === undefined ? {} : { extra: fields(length) }),
    finish: () => (cut ? "length" : "stop"),
    usage: () => ({
      prompt_tokens: promptTokens(),
      completion_tokens: completionTokens,
      total_tokens: promptTokens() + completionTokens
    })
  }
}

const event = (data: ChatEvent["data"]): ChatEvent => ({ id: undefined, event: "message", data })

/** The whole response, or with `stream: true` its events. */
export const chatResponse = Effect.fnUntraced(function* (
  request: ChatRequest,
  reply: ChatReply
): Effect.fn.Return<ChatResponse | Stream.Stream<ChatEvent>, GatewayError> {
  const { n = 1 } = request
  if (n > 1) {
    const message = `${reply.model} has only one answer: leave \`n\` out`
    return yield* rejectedBy("chat", reply.model)(new InvalidRequest({ message, param: "n" }))
  }
  const head = {
    id: `chatcmpl-${randomUUID()}`,
    created: Math.floor((yield* Clock.currentTimeMillis) / 1000),
    model: reply.model
  }
  const { text, extra, finish, usage } = truncate(reply, request.max_tokens ?? Infinity)
  if (request.stream !== true) {
    const content = yield* Stream.mkString(text)
    return {
      ...head,
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content, ...extra() }, finish_reason: finish() }],
      usage: usage()
    }
  }
  const chunk = (choice: Omit<ChatChunk["choices"][number], "index">): ChatChunk => ({
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, ...choice }]
  })
  const end = Stream.suspend(() =>
    Stream.make<Array<ChatEvent["data"]>>(
      chunk({ delta: extra(), finish_reason: finish() }),
      ...(request.stream_options?.include_usage === true
        ? [{ ...head, object: "chat.completion.chunk", choices: [], usage: usage() }]
        : []),
      DONE
    )
  )
  return Stream.make<Array<ChatEvent["data"]>>(chunk({ delta: { role: "assistant", content: "" } })).pipe(
    Stream.concat(Stream.map(text, (content): ChatEvent["data"] => chunk({ delta: { content } }))),
    Stream.concat(end),
    Stream.catch((error) => Stream.make<Array<ChatEvent["data"]>>(Failure.fromReason(error.reason).body)),
    Stream.map(event)
  )
})
