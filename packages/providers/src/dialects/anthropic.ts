/** Anthropic's Messages. */
import { Effect } from "effect"
import type {
  Dialect,
  ErrorFields,
  EventMap,
  Fields,
  InterfaceRequest,
  RequestTools
} from "../protocol/Dialect.ts"
import {
  base64Of,
  completionOf,
  conversationOf,
  makeChunks,
  type MessagePart,
  stopsOf,
  chatUsage
} from "../text/Chat.ts"
import { itemsAt, jsonAt, numberAt, present, textAt } from "../text/Values.ts"

/** The vendor requires a limit. The interface's requests may have none. */
const MAX_TOKENS = 8192

/** The version of the protocol that this file speaks, which has no `temperature` and no `top_p`. */
const VERSION = "2026-10-21"

const FINISH_REASONS: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content_filter"
}

const finishReason = (reason: string | undefined): string => FINISH_REASONS[reason ?? ""] ?? reason ?? "stop"

const partOf = (part: MessagePart, tools: RequestTools): Effect.Effect<Fields, ErrorFields> => {
  if (part.type === "text") return Effect.succeed(part)
  if (/^https?:/i.test(part.image)) {
    return Effect.succeed({ type: "image", source: { type: "url", url: part.image } })
  }
  return Effect.map(base64Of(part.image, tools), ({ data, mediaType }) => ({
    type: "image",
    source: { type: "base64", media_type: mediaType, data }
  }))
}

const request = (asked: InterfaceRequest, tools: RequestTools) =>
  Effect.gen(function* () {
    const { system, messages } = yield* conversationOf(asked, "Anthropic")
    const {
      max_completion_tokens,
      max_tokens,
      messages: _,
      response_format: format,
      stop: __,
      stream_options: ___,
      temperature: ____,
      top_p: _____,
      ...options
    } = asked
    const schema = jsonAt(format, "json_schema", "schema")
    return present({
      ...options,
      max_tokens: max_tokens ?? max_completion_tokens ?? MAX_TOKENS,
      system,
      messages: yield* Effect.forEach(messages, ({ parts, role }) =>
        Effect.map(
          Effect.forEach(parts, (part) => partOf(part, tools)),
          (content) => ({ role, content })
        )
      ),
      stop_sequences: stopsOf(asked),
      output_config: schema === undefined ? undefined : { format: { type: "json_schema", schema } }
    })
  })

/** Tokens read from the cache or written to it are not in `input_tokens`. */
const usage = (counts: unknown): Fields => {
  const cached = numberAt(counts, "cache_read_input_tokens") ?? 0
  const prompt =
    (numberAt(counts, "input_tokens") ?? 0) + cached + (numberAt(counts, "cache_creation_input_tokens") ?? 0)
  return chatUsage(prompt, numberAt(counts, "output_tokens") ?? 0, cached)
}

const textsOf = (body: unknown, type: "text" | "thinking"): string =>
  itemsAt(body, "content")
    .map((block) => (textAt(block, "type") === type ? (textAt(block, type) ?? "") : ""))
    .join("")

const events = (asked: InterfaceRequest): EventMap => {
  const chunks = makeChunks(asked)
  /** The counts of the first event. The last one has those of the output. */
  let counts: Fields = {}
  return {
    push: (event) => {
      switch (event["type"]) {
        case "message_start": {
          counts = (jsonAt(event, "message", "usage") ?? {}) as Fields
          chunks.note({ id: textAt(event, "message", "id") })
          return [chunks.delta({ role: "assistant", content: "" })]
        }
        case "content_block_delta": {
          const text = textAt(event, "delta", "text")
          const thinking = textAt(event, "delta", "thinking")
          if (text !== undefined) return [chunks.delta({ content: text })]
          return thinking === undefined ? [] : [chunks.delta({ reasoning_content: thinking })]
        }
        case "message_delta": {
          counts = { ...counts, ...present((event["usage"] ?? {}) as Fields) }
          chunks.note({ usage: usage(counts) })
          return [chunks.finish(finishReason(textAt(event, "delta", "stop_reason")))]
        }
        case "message_stop":
          return chunks.end()
        case "error":
          return [{ error: event["error"] }]
        default:
          return []
      }
    }
  }
}

export const anthropic: Dialect = {
  id: "anthropic",
  name: "Anthropic",
  url: "https://api.anthropic.com",
  keyVariable: "ANTHROPIC_API_KEY",
  sign: (key) => ({ authorization: `Bearer ${key}`, "anthropic-version": VERSION }),
  list: { path: "/v1/models?limit=1000" },
  operations: {
    chat: {
      path: "/v1/messages",
      request,
      response: (body, asked) =>
        completionOf(
          asked,
          jsonAt(body, "id"),
          [
            {
              text: textsOf(body, "text"),
              reasoning: textsOf(body, "thinking"),
              finishReason: finishReason(textAt(body, "stop_reason"))
            }
          ],
          usage(jsonAt(body, "usage"))
        ),
      events
    }
  },
  error: (body) => {
    const message = textAt(body, "error", "message")
    if (message === undefined) return undefined
    // An account without credit is a 400.
    return /credit balance is too low/i.test(message)
      ? { message, code: "insufficient_quota", status: 402 }
      : { message, code: textAt(body, "error", "type") }
  }
}
