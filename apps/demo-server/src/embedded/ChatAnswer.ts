/** An answer that comes piece by piece, as chat completions have it: whole, or as events that end in `[DONE]`. */
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
import { Clock, Effect, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { refusing } from "./Refusing.ts"

/** What a model of this process says, before it is cut to `max_tokens`. */
export interface Said {
  readonly model: string
  readonly promptTokens: number
  readonly pieces: Stream.Stream<string, GatewayError>
}

/** The answer piece by piece, cut before the piece that would go over `max_tokens`. */
const cutOff = ({ pieces, promptTokens }: Said, limit: number) => {
  let completionTokens = 0
  let cut = false
  return {
    text: Stream.takeWhile(pieces, (piece) => {
      const tokens = completionTokens + countTokens(piece)
      cut = tokens > limit
      if (!cut) completionTokens = tokens
      return !cut
    }),
    finish: () => (cut ? "length" : "stop"),
    usage: () => ({
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens
    })
  }
}

const event = (data: ChatEvent["data"]): ChatEvent => ({ id: undefined, event: "message", data })

/** Whole, or with `stream: true` as events. */
export const answer = Effect.fnUntraced(function* (
  request: ChatRequest,
  said: Said
): Effect.fn.Return<ChatResponse | Stream.Stream<ChatEvent>, GatewayError> {
  const { n = 1 } = request
  if (n > 1) {
    const message = `${said.model} gives one answer, always the same: leave \`n\` out`
    return yield* refusing("chat", said.model)(new InvalidRequest({ message, param: "n" }))
  }
  const head = {
    id: `chatcmpl-${randomUUID()}`,
    created: Math.floor((yield* Clock.currentTimeMillis) / 1000),
    model: said.model
  }
  const { text, finish, usage } = cutOff(said, request.max_tokens ?? Infinity)
  if (request.stream !== true) {
    const content = yield* Stream.mkString(text)
    return {
      ...head,
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: finish() }],
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
      chunk({ delta: {}, finish_reason: finish() }),
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
