/** Images in chat messages, and their cost in tokens. */
import { Effect, Result } from "effect"
import type { ChatMessage, ImageDetail, ImagePart } from "../contract/Chat.ts"
import { GatewayError, InvalidRequest } from "../contract/GatewayError.ts"
import { decodeBase64 } from "../contract/Base64.ts"
import { isDataUri, parseDataUri, readImage, type RequiredServices } from "../media/ImageSource.ts"
import { imageFormatOf, loadImage, mediaTypeOf, describeFormat } from "../media/ImageFormat.ts"
import type { ImageSource } from "../contract/ImageModels.ts"
import { imageTokens, type TokenRange } from "../media/ImageTokens.ts"

/**
 * Makes a part of a chat message from an image.
 *
 * **Details.** Base64, bytes and files become data URIs; a URL is sent unchanged and must be public. Fails with
 * `InvalidRequest` unless the bytes are PNG, JPEG or WEBP of at most 20 MB. `detail` is `auto` by default. Only files need a
 * `FileSystem`.
 */
export const imagePart = <const S extends ImageSource>(
  source: S,
  detail?: ImageDetail
): Effect.Effect<typeof ImagePart.Type, GatewayError, RequiredServices<S>> =>
  readImage(source).pipe(
    Effect.mapError((reason) => new GatewayError({ operation: "chat", reason })),
    Effect.map(({ url }) => ({ type: "image_url", image_url: { url, detail } }) as const)
  )

/**
 * A user's message of a text and one or more images.
 *
 * ```ts
 * const message = yield* userMessage("What is on it?", [{ file: "cat.png" }], "low")
 * const { text } = yield* gateway.chat({ model, messages: [message], maxTokens: 300 })
 * ```
 */
export const userMessage = <const S extends ImageSource>(
  text: string,
  images: ReadonlyArray<S>,
  detail?: ImageDetail
): Effect.Effect<ChatMessage, GatewayError, RequiredServices<S>> =>
  Effect.map(
    Effect.forEach(images, (image) => imagePart(image, detail)),
    (parts) => ({ role: "user", content: [{ type: "text", text }, ...parts] })
  )

/** Enough characters of Base64 to recognise every format. */
const HEAD = 64

const dataUriFault = (uri: string): string | undefined => {
  const parts = parseDataUri(uri)
  const head = parts && decodeBase64(parts.base64.slice(0, HEAD))
  if (parts === undefined || head === undefined) return "is not Base64 after `data:image/png;base64,`"
  const format = imageFormatOf(head)
  if (format === undefined) return `is ${describeFormat(head)}, not a PNG, JPEG or WEBP image`
  return parts.mediaType === mediaTypeOf(format)
    ? undefined
    : `is declared as ${parts.mediaType}, but its bytes are ${mediaTypeOf(format)}`
}

const imagesOf = (messages: ReadonlyArray<ChatMessage>) =>
  messages
    .flatMap(({ content }) => (typeof content === "object" ? content : []))
    .flatMap((part) => (part.type === "image_url" ? [part.image_url] : []))

/** The error of the first data URI that is not a PNG, JPEG or WEBP image by its first bytes, else undefined. */
export const validateChatImages = (messages: ReadonlyArray<ChatMessage>): InvalidRequest | undefined => {
  for (const { url } of imagesOf(messages)) {
    const fault = isDataUri(url) ? dataUriFault(url) : undefined
    if (fault === undefined) continue
    const message = `The image of a message ${fault}. \`imagePart\` makes parts from files and bytes.`
    return new InvalidRequest({ message, param: "messages", code: "invalid_image" })
  }
  return undefined
}

/** The tokens of all images of a chat, without its texts: the sum of `imageTokens`. The size of a URL is unknown. */
export const chatImageTokens = (messages: ReadonlyArray<ChatMessage>): TokenRange =>
  imagesOf(messages)
    .map(({ detail, url }) => imageTokens(detail, sizeOf(url)))
    .reduce((a, b) => ({ least: a.least + b.least, most: a.most + b.most }), { least: 0, most: 0 })

const sizeOf = (url: string) => {
  const bytes = decodeBase64(parseDataUri(url)?.base64 ?? "")
  return bytes && Result.getOrUndefined(loadImage(bytes))
}
