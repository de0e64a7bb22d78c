/** Anthropic's answers and the events of its streams in the interface's form. */
import type { EventMap, Fields, InterfaceRequest } from "../protocol/Dialect.ts"
import { itemsAt, jsonAt, numberAt, present, textAt } from "../protocol/JsonValues.ts"
import { chatUsage, completionOf, makeChunks } from "./Chat.ts"
import type { ToolCall } from "./Tools.ts"

const FINISH_REASONS: Readonly<Record<string, string>> = {
  end_turn: "stop",
  tool_use: "tool_calls",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content_filter"
}

const finishReason = (reason: string | undefined): string => FINISH_REASONS[reason ?? ""] ?? reason ?? "stop"

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

export const messageResponse = (body: unknown, asked: InterfaceRequest): Fields => {
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

export const messageEvents = (asked: InterfaceRequest): EventMap => {
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
