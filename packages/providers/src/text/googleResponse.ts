/** Gemini's answers and the events of its streams in the interface's form. */
import { randomUUID } from "node:crypto"
import type { EventMap, Fields, InterfaceRequest } from "../protocol/Dialect.ts"
import { itemsAt, jsonAt, numberAt, textAt } from "../protocol/JsonValues.ts"
import { chatUsage, type Choice, completionOf, makeChunks } from "./Chat.ts"
import type { ToolCall } from "./Tools.ts"

const FINISH_REASONS: Readonly<Record<string, string>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "content_filter",
  RECITATION: "content_filter",
  BLOCKLIST: "content_filter",
  PROHIBITED_CONTENT: "content_filter",
  SPII: "content_filter",
  IMAGE_SAFETY: "content_filter",
  IMAGE_PROHIBITED_CONTENT: "content_filter"
}

const finishReason = (reason: string, hasCalls: boolean): string =>
  reason === "STOP" && hasCalls ? "tool_calls" : (FINISH_REASONS[reason] ?? reason.toLowerCase())

/** Thoughts are tokens of the completion. */
const usage = (body: unknown): Fields => {
  const count = (name: string) => numberAt(body, "usageMetadata", name)
  const completion = (count("candidatesTokenCount") ?? 0) + (count("thoughtsTokenCount") ?? 0)
  return chatUsage(count("promptTokenCount") ?? 0, completion, count("cachedContentTokenCount"))
}

const textsOf = (candidate: unknown, isThought: boolean): string =>
  itemsAt(candidate, "content", "parts")
    .map((part) => ((jsonAt(part, "thought") === true) === isThought ? (textAt(part, "text") ?? "") : ""))
    .join("")

/** The calls of tools. Older models give them no id. */
const callsOf = (candidate: unknown): ReadonlyArray<ToolCall> =>
  itemsAt(candidate, "content", "parts").flatMap((part) => {
    const call = jsonAt(part, "functionCall")
    if (call === undefined) return []
    return {
      id: textAt(call, "id") ?? `call_${randomUUID()}`,
      name: textAt(call, "name") ?? "",
      arguments: JSON.stringify(jsonAt(call, "args") ?? {}),
      signature: textAt(part, "thoughtSignature")
    }
  })

/** A refused prompt has no candidates. */
const isRefused = (body: unknown): boolean => jsonAt(body, "promptFeedback", "blockReason") !== undefined

export const contentsResponse = (body: unknown, asked: InterfaceRequest): Fields => {
  const choices = itemsAt(body, "candidates").map((candidate): Choice => {
    const calls = callsOf(candidate)
    return {
      text: textsOf(candidate, false),
      reasoning: textsOf(candidate, true),
      calls,
      finishReason: finishReason(textAt(candidate, "finishReason") ?? "STOP", calls.length > 0)
    }
  })
  const refused: ReadonlyArray<Choice> = isRefused(body) ? [{ text: "", finishReason: "content_filter" }] : []
  return completionOf(
    asked,
    jsonAt(body, "responseId"),
    choices.length === 0 ? refused : choices,
    usage(body)
  )
}

export const contentsEvents = (asked: InterfaceRequest): EventMap => {
  const chunks = makeChunks(asked)
  let isFinished = false
  /** How many calls each choice has. */
  const counts = new Map<number, number>()
  return {
    push: (event) => {
      if (event["error"] !== undefined) return [{ error: event["error"] }]
      chunks.note({
        id: textAt(event, "responseId"),
        usage: event["usageMetadata"] === undefined ? undefined : usage(event)
      })
      if (isRefused(event)) {
        isFinished = true
        return [chunks.finish("content_filter")]
      }
      return itemsAt(event, "candidates").flatMap((candidate) => {
        const index = numberAt(candidate, "index") ?? 0
        const [text, reasoning] = [textsOf(candidate, false), textsOf(candidate, true)]
        const reason = textAt(candidate, "finishReason")
        const calls = callsOf(candidate)
        const before = counts.get(index) ?? 0
        const count = before + calls.length
        counts.set(index, count)
        isFinished ||= reason !== undefined
        return [
          ...(reasoning === "" ? [] : [chunks.delta({ reasoning_content: reasoning }, index)]),
          ...(text === "" ? [] : [chunks.delta({ content: text }, index)]),
          ...calls.map((call, at) => chunks.toolCall(before + at, call, index)),
          ...(reason === undefined ? [] : [chunks.finish(finishReason(reason, count > 0), index)])
        ]
      })
    },
    // No event says that the stream is complete.
    end: () => (isFinished ? chunks.end() : [])
  }
}
