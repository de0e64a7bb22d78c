/** Chat requests and responses of the interface, for dialects. */
import { Effect } from "effect"
import type {
  ErrorFields,
  EventMap,
  Fields,
  ImageBytes,
  InterfaceRequest,
  RequestTools
} from "../protocol/Dialect.ts"
import { itemsAt, present, textAt } from "./Values.ts"

/** A part of a message. */
export type MessagePart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly image: string }

/** A message whose role vendors with a field of its own for instructions know. */
export interface PlainMessage {
  readonly role: "user" | "assistant"
  readonly parts: ReadonlyArray<MessagePart>
}

const partsOf = (content: unknown): ReadonlyArray<MessagePart> =>
  typeof content === "string"
    ? [{ type: "text", text: content }]
    : itemsAt(content).map((part) => {
        const image = textAt(part, "image_url", "url")
        return image === undefined
          ? { type: "text", text: textAt(part, "text") ?? "" }
          : { type: "image", image }
      })

/** The instructions, and the messages without them. Fails for tools, which these dialects do not map. */
export const conversationOf = (
  asked: InterfaceRequest,
  vendor: string
): Effect.Effect<
  { readonly system: string | undefined; readonly messages: ReadonlyArray<PlainMessage> },
  ErrorFields
> => {
  const messages = itemsAt(asked, "messages")
  const hasTools = messages.some(
    (one) => textAt(one, "role") === "tool" || itemsAt(one, "tool_calls").length > 0
  )
  if (hasTools || itemsAt(asked, "tools").length > 0) {
    const message = `Tools of ${vendor} need its compatible endpoint: the dialect \`openai\` with its address`
    return Effect.fail({ message, param: "tools" })
  }
  const isInstruction = (one: unknown) => ["system", "developer"].includes(textAt(one, "role") ?? "")
  const textOf = (one: unknown) =>
    partsOf((one as Fields)["content"])
      .map((part) => (part.type === "text" ? part.text : ""))
      .join("\n")
  const instructions = messages.filter(isInstruction).map(textOf)
  return Effect.succeed({
    system: instructions.length === 0 ? undefined : instructions.join("\n\n"),
    messages: messages
      .filter((one) => !isInstruction(one))
      .map((one) => ({
        role: textAt(one, "role") === "assistant" ? "assistant" : "user",
        parts: partsOf((one as Fields)["content"])
      }))
  })
}

/** The bytes of an image as Base64. */
export const base64Of = (
  image: string,
  tools: RequestTools
): Effect.Effect<{ readonly data: string; readonly mediaType: string }, ErrorFields> =>
  Effect.map(tools.image(image), ({ bytes, mediaType }: ImageBytes) => ({
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
    choices: choices.map(({ finishReason, reasoning, text }, index) => ({
      index,
      message: {
        role: "assistant",
        content: text,
        ...(reasoning !== undefined && reasoning !== "" && { reasoning_content: reasoning })
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
  return {
    note: (known: { readonly id?: string | undefined; readonly usage?: Fields | undefined }) => {
      id = known.id ?? id
      usage = known.usage ?? usage
    },
    delta: (delta: Fields, index = 0): Fields => chunk([{ index, delta, finish_reason: null }]),
    finish: (finishReason: string, index = 0): Fields =>
      chunk([{ index, delta: {}, finish_reason: finishReason }]),
    /** The usage and the end. The server removes a usage that only it has asked for. */
    end: (): ReturnType<EventMap["push"]> =>
      usage === undefined ? ["[DONE]"] : [chunk([], { usage }), "[DONE]"]
  }
}
