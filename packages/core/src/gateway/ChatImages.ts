/** Images in a chat: how they get into a message, and what they cost. */
import { Effect, Result } from "effect"
import type { ChatMessage, ImageDetail, ImagePart } from "../contract/Chat.ts"
import { GatewayError, InvalidRequest } from "../contract/GatewayError.ts"
import { decodeBase64 } from "../contract/Base64.ts"
import { isDataUri, parseDataUri, readImage, type RequiredServices } from "../media/ImageSource.ts"
import { imageFormatOf, loadImage, mediaTypeOf, describeFormat } from "../media/ImageFormat.ts"
import type { ImageSource } from "../contract/ImageModels.ts"
import { imageTokens, type TokenRange } from "../media/ImageTokens.ts"

/**
 * An image as a part of a chat message.
 *
 * **Details.** A URL goes as it is and has to be publicly reachable; Base64, bytes and files go as data URIs. PNG, JPEG
 * or WEBP by their bytes, at most 20 MB; anything else is `InvalidRequest`, a GIF by its name. `detail` is `auto` where
 * it is not given. A file alone needs a `FileSystem`.
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
 * What a user says of one or several images, which are looked at together.
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

/** Characters of Base64 in which every format shows itself. */
const HEAD = 64

const refusedUri = (uri: string): string | undefined => {
  const parts = parseDataUri(uri)
  const head = parts && decodeBase64(parts.base64.slice(0, HEAD))
  if (parts === undefined || head === undefined) return "is not Base64 after `data:image/png;base64,`"
  const format = imageFormatOf(head)
  if (format === undefined) return `is ${describeFormat(head)}, not a PNG, JPEG or WEBP image`
  return parts.mediaType === mediaTypeOf(format)
    ? undefined
    : `is called ${parts.mediaType}, and its bytes are ${mediaTypeOf(format)}`
}

/**
 * Why a message is not sent: a data URI in it is no image that gateways take. For messages that `imagePart` has not made.
 *
 * By the first bytes: what stands behind them, and behind a URL, is for the gateway to judge.
 */
export const validateChatImages = (messages: ReadonlyArray<ChatMessage>): InvalidRequest | undefined => {
  for (const { content } of messages) {
    for (const part of typeof content === "object" ? content : []) {
      if (part.type !== "image_url" || !isDataUri(part.image_url.url)) continue
      const why = refusedUri(part.image_url.url)
      if (why !== undefined) {
        const message = `The image of a message ${why}. \`imagePart\` makes parts of files and bytes.`
        return new InvalidRequest({ message, param: "messages", code: "invalid_image" })
      }
    }
  }
  return undefined
}

/**
 * What the images of a chat cost in tokens, all together; their texts come on top.
 *
 * **Details.** 85 an image with `low`; with `high` by the size of an image that is in the message itself. `least` and
 * `most` differ where the size (of a URL) or the detail (`auto`) is not known: see `imageTokens`.
 */
export const chatImageTokens = (messages: ReadonlyArray<ChatMessage>): TokenRange => {
  let least = 0
  let most = 0
  for (const { content } of messages) {
    for (const part of typeof content === "object" ? content : []) {
      if (part.type !== "image_url") continue
      const cost = imageTokens(part.image_url.detail, sizeOf(part.image_url.url))
      least += cost.least
      most += cost.most
    }
  }
  return { least, most }
}

const sizeOf = (url: string) => {
  const bytes = decodeBase64(parseDataUri(url)?.base64 ?? "")
  return bytes && Result.getOrUndefined(loadImage(bytes))
}
