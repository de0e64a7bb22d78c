/** Anthropic's Messages. */
import { Effect, Struct } from "effect"
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
import { type ToolCall, toolChoiceOf, toolsOf } from "../text/Tools.ts"
import { itemsAt, jsonAt, numberAt, present, textAt } from "../protocol/JsonValues.ts"

/** The vendor requires a limit. The interface's requests may have none. */
const MAX_TOKENS = 8192

/** The version of the protocol that this file speaks: the latest of its documentation, as the vendor's SDK 1.12 sends it. */
const VERSION = "2026-10-21"

/** Fields of the interface and of OpenAI that this version refuses. Its compatible endpoint ignores them too. */
const REFUSED = [
  "frequency_penalty",
  "logit_bias",
  "logprobs",
  "max_completion_tokens",
  "n",
  "parallel_tool_calls",
  "presence_penalty",
  "reasoning_effort",
  "response_format",
  "seed",
  "stop",
  "store",
  "stream_options",
  "temperature",
  "top_k",
  "top_logprobs",
  "top_p",
  "user"
]

const FINISH_REASONS: Readonly<Record<string, string>> = {
  end_turn: "stop",
  tool_use: "tool_calls",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content_filter"
}

const finishReason = (reason: string | undefined): string => FINISH_REASONS[reason ?? ""] ?? reason ?? "stop"

const imageOf = (image: string, tools: RequestTools): Effect.Effect<Fields, ErrorFields> =>
  /^https?:/i.test(image)
    ? Effect.succeed({ type: "image", source: { type: "url", url: image } })
    : Effect.map(base64Of(image, tools), ({ data, mediaType }) => ({
        type: "image",
        source: { type: "base64", media_type: mediaType, data }
      }))

const partOf = (part: MessagePart): Fields => {
  switch (part.type) {
    case "text":
      return part
    case "image":
      return part.image
    case "call":
      return { type: "tool_use", id: part.id, name: part.name, input: part.input }
    case "result":
      return { type: "tool_result", tool_use_id: part.id, content: part.parts.map(partOf) }
  }
}

const CHOICES: Readonly<Record<string, string>> = { auto: "auto", none: "none", required: "any" }

/** The tools, and which of them has to be called. */
const toolFields = (asked: InterfaceRequest): Fields => {
  const { functions, own } = toolsOf(asked)
  if (functions.length + own.length === 0) return { tools: undefined, tool_choice: undefined }
  const { mode, name } = toolChoiceOf(asked)
  const type = name === undefined ? CHOICES[mode ?? "auto"] : "tool"
  const isSingle = asked["parallel_tool_calls"] === false && type !== "none"
  const declared = functions.map(({ description, name, parameters, strict }) =>
    present({ name, description, input_schema: parameters ?? { type: "object" }, strict })
  )
  return {
    tools: [...declared, ...own],
    tool_choice:
      type === undefined
        ? asked["tool_choice"]
        : present({ type, name, disable_parallel_tool_use: isSingle ? true : undefined })
  }
}

const request = (asked: InterfaceRequest, tools: RequestTools) =>
  Effect.gen(function* () {
    if (Number(asked["n"] ?? 1) > 1) {
      return yield* Effect.fail({ message: "Anthropic gives one answer per call. Leave out `n`", param: "n" })
    }
    const { system, messages } = yield* conversationOf(asked, (image) => imageOf(image, tools))
    const schema = jsonAt(asked, "response_format", "json_schema", "schema")
    return present({
      ...Struct.omit(asked as Fields, REFUSED),
      max_tokens: asked["max_tokens"] ?? asked["max_completion_tokens"] ?? MAX_TOKENS,
      system,
      messages: messages.map(({ parts, role }) => ({ role, content: parts.map(partOf) })),
      stop_sequences: stopsOf(asked),
      output_config: schema === undefined ? undefined : { format: { type: "json_schema", schema } },
      ...toolFields(asked)
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

const callOf = (block: unknown, json: string): ToolCall => ({
  id: textAt(block, "id") ?? "",
  name: textAt(block, "name") ?? "",
  arguments: json
})

const response = (body: unknown, asked: InterfaceRequest): Fields => {
  const content = jsonAt(body, "content")
  const choice = {
    text: textsOf(body, "text"),
    reasoning: textsOf(body, "thinking"),
    calls: itemsAt(content).flatMap((block) =>
      textAt(block, "type") === "tool_use"
        ? [callOf(block, JSON.stringify(jsonAt(block, "input") ?? {}))]
        : []
    ),
    finishReason: finishReason(textAt(body, "stop_reason"))
  }
  const choices = Array.isArray(content) ? [choice] : []
  return completionOf(asked, jsonAt(body, "id"), choices, usage(jsonAt(body, "usage")))
}

const events = (asked: InterfaceRequest): EventMap => {
  const chunks = makeChunks(asked)
  /** The counts of the first event. The last one has those of the output. */
  let counts: Fields = {}
  /** The calls by their blocks. */
  const calls = new Map<unknown, { readonly at: number; hasArguments: boolean }>()
  return {
    push: (event) => {
      switch (event["type"]) {
        case "message_start": {
          counts = (jsonAt(event, "message", "usage") ?? {}) as Fields
          chunks.note({ id: textAt(event, "message", "id") })
          return [chunks.delta({ content: "" })]
        }
        case "content_block_start": {
          const block = event["content_block"]
          if (textAt(block, "type") !== "tool_use") return []
          const at = calls.size
          calls.set(event["index"], { at, hasArguments: false })
          return [chunks.toolCall(at, callOf(block, ""))]
        }
        case "content_block_stop": {
          const call = calls.get(event["index"])
          return call === undefined || call.hasArguments ? [] : [chunks.toolArguments(call.at, "{}")]
        }
        case "content_block_delta": {
          const call = calls.get(event["index"])
          const json = textAt(event, "delta", "partial_json")
          if (call !== undefined && json !== undefined && json !== "") {
            call.hasArguments = true
            return [chunks.toolArguments(call.at, json)]
          }
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

export const anthropic = {
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
      response,
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
} as const satisfies Dialect
