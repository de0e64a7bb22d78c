/** Converts a prompt of Effect's AI services to chat messages. */
import { Effect } from "effect"
import type * as Prompt from "effect/ai/Prompt"
import type { ChatContent, ChatMessage, ImageDetail } from "../contract/Chat.ts"
import { InvalidRequest } from "../contract/GatewayError.ts"
import { IMAGE_FORMATS } from "../media/ImageFormat.ts"
import { readImage } from "../media/ImageSource.ts"

/** Options of an image, as `options: { sluice: { detail: "low" } }` of its file part. */
export type ImageOptions = {
  /** `low` costs 85 tokens. Default: `auto`. */
  readonly detail?: ImageDetail | null
}

declare module "effect/ai/Prompt" {
  interface FilePartOptions extends ProviderOptions {
    readonly sluice?: ImageOptions | null
  }
}

type Parts = Exclude<ChatContent, string>

/**
 * The chat messages of a prompt, in order.
 *
 * **Details.** Accepts text, and images of the user: PNG, JPEG or WEBP of at most 20 MB, as bytes, Base64, data URI or
 * URL. Omits reasoning. Any other part, such as a tool call, fails with `InvalidRequest`, which names it.
 */
export const messagesOf = (
  prompt: Prompt.Prompt
): Effect.Effect<ReadonlyArray<ChatMessage>, InvalidRequest> =>
  Effect.forEach(prompt.content, (message): Effect.Effect<ChatMessage, InvalidRequest> => {
    switch (message.role) {
      case "system":
        return Effect.succeed({ role: "system", content: message.content })
      case "user":
        return Effect.map(Effect.forEach(message.content, userPart), (content) => ({
          role: "user",
          content: plain(content)
        }))
      case "assistant":
        return Effect.map(Effect.forEach(message.content, assistantPart), (content) => ({
          role: "assistant",
          content: plain(content.flat())
        }))
      case "tool":
        return refuse("a tool's result")
    }
  })

const refuse = (what: string) =>
  Effect.fail(new InvalidRequest({ message: `The gateway's chat does not support ${what}.` }))

/** A single text becomes a string, which every chat model accepts. */
const plain = (parts: Parts): ChatContent => {
  const [first] = parts
  if (first === undefined) return ""
  return parts.length === 1 && first.type === "text" ? first.text : parts
}

const userPart = (part: Prompt.UserMessagePart): Effect.Effect<Parts[number], InvalidRequest> => {
  if (part.type === "text") return Effect.succeed({ type: "text", text: part.text })
  if (!MEDIA_TYPES.has(part.mediaType.toLowerCase())) {
    return refuse(`files of type ${part.mediaType}, only text and PNG, JPEG or WEBP images`)
  }
  const detail = part.options.sluice?.detail ?? undefined
  return Effect.map(readImage(part.data), ({ url }) => ({
    type: "image_url",
    image_url: { url, detail }
  }))
}

const MEDIA_TYPES: ReadonlySet<string> = new Set(
  ["*", "jpg", ...IMAGE_FORMATS].map((format) => `image/${format}`)
)

const assistantPart = (part: Prompt.AssistantMessagePart): Effect.Effect<Parts, InvalidRequest> => {
  if (part.type === "text") return Effect.succeed([{ type: "text", text: part.text }])
  return part.type === "reasoning" ? Effect.succeed([]) : refuse(`an assistant's ${part.type}`)
}
