/** A prompt of Effect's AI services as messages of the gateway's chat. */
import { Effect } from "effect"
import type * as Prompt from "effect/ai/Prompt"
import type { ChatContent, ChatMessage } from "../contract/Chat.ts"
import { InvalidRequest } from "../contract/GatewayError.ts"
import { IMAGE_FORMATS } from "../media/ImageFormat.ts"
import { readImage } from "../media/ImageSource.ts"
import type { ImageDetail } from "../contract/Chat.ts"

/** What a prompt may say of an image, as `options: { sluice: { detail: "low" } }` of its file part. */
export type ImageOptions = {
  /** How closely it is looked at: `low` costs 85 tokens; `auto` when not given. */
  readonly detail?: ImageDetail | null
}

declare module "effect/ai/Prompt" {
  interface FilePartOptions extends ProviderOptions {
    readonly sluice?: ImageOptions | null
  }
}

type Parts = Exclude<ChatContent, string>

/**
 * The messages of a prompt, in their order.
 *
 * **Details.** Text, and images of the user as PNG, JPEG or WEBP: bytes, Base64, data URI or URL, at most 20 MB.
 * Thoughts of earlier answers are left out. Tool calls, other files, and pictures of the assistant have no place in the
 * gateway's messages: `InvalidRequest` says which part it was.
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
  Effect.fail(new InvalidRequest({ message: `A message of the gateway's chat cannot carry ${what}.` }))

/** One text alone is a plain string: every chat model takes that. */
const plain = (parts: Parts): ChatContent => {
  const [first] = parts
  if (first === undefined) return ""
  return parts.length === 1 && first.type === "text" ? first.text : parts
}

const userPart = (part: Prompt.UserMessagePart): Effect.Effect<Parts[number], InvalidRequest> => {
  if (part.type === "text") return Effect.succeed({ type: "text", text: part.text })
  if (!MEDIA_TYPES.has(part.mediaType.toLowerCase())) {
    return refuse(`a file of type ${part.mediaType}, only text and images: PNG, JPEG or WEBP`)
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
