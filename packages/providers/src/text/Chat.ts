/** Chat requests and responses of the interface, for dialects. */
import { Effect } from "effect"
import type { ErrorFields, EventMap, Fields, InterfaceRequest, RequestTools } from "../protocol/Dialect.ts"
import { type CallPart, type ToolCall, toolCallFields, toolCallsOf } from "./Tools.ts"
import { itemsAt, jsonAt, present, textAt } from "../protocol/JsonValues.ts"

/** An image in the vendor's form. */
type ReadImage = (image: string) => Effect.Effect<Fields, ErrorFields>

/** A part of a message. */
export type MessagePart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly image: Fields }
  | CallPart
  /** What a tool has returned. The parts are texts and images. */
  | {
      readonly type: "result"
      readonly id: string
      readonly name: string
      readonly parts: ReadonlyArray<MessagePart>
    }

/** A message whose role vendors with a field of its own for instructions know. */
interface PlainMessage {
  readonly role: "user" | "assistant"
  readonly parts: ReadonlyArray<MessagePart>
}

/** The parts of a content. Vendors refuse empty texts. */
const partsOf = Effect.fnUntraced(function* (content: unknown, readImage: ReadImage) {
  const parts: Array<MessagePart> = []
  for (const part of typeof content === "string" ? [{ text: content }] : itemsAt(content)) {
    const image = textAt(part, "image_url", "url")
    const text = textAt(part, "text") ?? ""
    if (image !== undefined) parts.push({ type: "image", image: yield* readImage(image) })
    else if (text !== "") parts.push({ type: "text", text })
  }
  return parts
})

/** The texts among the parts. */
export const textOf = (parts: ReadonlyArray<MessagePart>): string =>
  parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n")

const INSTRUCTIONS: ReadonlySet<unknown> = new Set(["system", "developer"])

/** The instructions, and the messages without them. Results of tools are messages of the user. */
export const conversationOf = Effect.fnUntraced(function* (asked: InterfaceRequest, readImage: ReadImage) {
  const names = new Map<string, string>()
  const instructions: Array<string> = []
  const messages: Array<PlainMessage> = []
  const add = (role: PlainMessage["role"], parts: ReadonlyArray<MessagePart>) => {
    const last = messages.at(-1)
    // Vendors expect the results of parallel calls in one message.
    if (last?.role === role) messages[messages.length - 1] = { role, parts: [...last.parts, ...parts] }
    else if (parts.length > 0) messages.push({ role, parts })
  }
  for (const message of itemsAt(asked, "messages")) {
    const parts = yield* partsOf(jsonAt(message, "content"), readImage)
    const role = textAt(message, "role")
    if (INSTRUCTIONS.has(role)) instructions.push(textOf(parts))
    else if (role === "tool") {
      const id = textAt(message, "tool_call_id") ?? ""
      add("user", [{ type: "result", id, name: names.get(id) ?? "", parts }])
    } else {
      const calls = toolCallsOf(message)
      for (const { id, name } of calls) names.set(id, name)
      add(role === "assistant" ? role : "user", [...parts, ...calls])
    }
  }
  return { system: instructions.length === 0 ? undefined : instructions.join("\n\n"), messages }
})

/** The bytes of an image as Base64. */
export const base64Of = (image: string, tools: RequestTools) =>
  Effect.map(tools.image(image), ({ bytes, mediaType }) => ({
    data: Buffer.from(bytes).toString("base64"),
    mediaType
  }))

/** The texts of `stop`, which may be one. */
export const stopsOf = ({ stop }: InterfaceRequest): ReadonlyArray<unknown> | undefined =>
  stop === undefined || stop === null ? undefined : [stop].flat()

/** Token counts in the interface's form. `cached` is part of `prompt`. */
export const chatUsage = (prompt: number, completion: number, cached: number | undefined): Fields => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  ...(cached !== undefined && cached > 0 && { prompt_tokens_details: { cached_tokens: cached } })
})

/** One choice of an answer. */
export interface Choice {
  readonly text: string
  readonly reasoning?: string
  readonly calls?: ReadonlyArray<ToolCall>
  readonly finishReason: string
}

/** A complete response. */
export const completionOf = (
  { model }: InterfaceRequest,
  id: unknown,
  choices: ReadonlyArray<Choice>,
  usage: Fields
): Fields =>
  present({
    id,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model,
    choices: choices.map(({ calls = [], finishReason, reasoning, text }, index) => ({
      index,
      message: {
        role: "assistant",
        content: text === "" && calls.length > 0 ? null : text,
        ...(reasoning !== undefined && reasoning !== "" && { reasoning_content: reasoning }),
        ...(calls.length > 0 && { tool_calls: calls.map(toolCallFields) })
      },
      finish_reason: finishReason
    })),
    usage
  })

/** Makes the chunks of a stream, whose id and usage become known while it runs. */
export const makeChunks = (asked: InterfaceRequest) => {
  const created = Math.floor(Date.now() / 1000)
  let id: string | undefined
  let usage: Fields | undefined
  const chunk = (choices: ReadonlyArray<Fields>, more: Fields = {}): Fields =>
    present({ id, object: "chat.completion.chunk", created, model: asked.model, choices, ...more })
  /** Choices that have begun. Clients expect the role in the first chunk of each. */
  const begun = new Set<number>()
  const delta = (fields: Fields, index = 0, finishReason: string | null = null): Fields => {
    const role = begun.has(index) ? {} : { role: "assistant" }
    begun.add(index)
    return chunk([{ index, delta: { ...role, ...fields }, finish_reason: finishReason }])
  }
  return {
    note: (known: { readonly id?: string | undefined; readonly usage?: Fields | undefined }) => {
      id = known.id ?? id
      usage = known.usage ?? usage
    },
    delta,
    /** A call of a tool, or its start. `at`: its position among the calls of the choice. */
    toolCall: (at: number, call: ToolCall, index = 0): Fields =>
      delta({ tool_calls: [{ index: at, ...toolCallFields(call) }] }, index),
    /** More of a call's arguments. */
    toolArguments: (at: number, json: string): Fields =>
      delta({ tool_calls: [{ index: at, function: { arguments: json } }] }),
    finish: (finishReason: string, index = 0): Fields => delta({}, index, finishReason),
    /** The usage and the end. The server removes a usage that only it has asked for. */
    end: (): ReturnType<EventMap["push"]> =>
      usage === undefined ? ["[DONE]"] : [chunk([], { usage }), "[DONE]"]
  }
}
