/** Chat about images by the embedded `Vision`. Messages without images go to the text model. */
import type { ChatEvent, ChatRequest, ChatResponse, ImageDetail } from "@sluice/core/contract"
import type { ChatMessage, Vision } from "@sluice/core"
import { highDetailTokens, type ImageSize, LOW_DETAIL_TOKENS } from "@sluice/core/media"
import { Effect, Stream } from "effect"
import { type FetchImage, loadReference } from "../media/FetchImage.ts"
import type { Operation } from "../routing/Provider.ts"
import { checkLength, messagesRejected, textTokens } from "./Chat.ts"
import { chatResponse } from "./ChatAnswer.ts"
import { hasImage, imagesOf, messageText } from "./Conversation.ts"

/** Images up to this size, in pixels, have `low` detail by default, larger ones `high`. */
const LOW_DETAIL_SIZE = 512

/** The tokens that the embedded models count for an image in a chat. */
export const embeddedImageTokens = (detail: ImageDetail | null | undefined, size: ImageSize): number => {
  const isSmall = Math.max(size.width, size.height) <= LOW_DETAIL_SIZE
  const chosen = detail === "low" || detail === "high" ? detail : isSmall ? "low" : "high"
  return chosen === "low" ? LOW_DETAIL_TOKENS : highDetailTokens(size)
}

/** The text of the user's last message. */
const questionOf = (messages: ReadonlyArray<ChatMessage>): string => {
  const last = messages.findLast(({ role }) => role === "user")
  return last === undefined ? "" : messageText(last).trim()
}

const words = new Intl.Segmenter(undefined, { granularity: "word" })

/** Looks at the images of all messages and answers the last message. */
export const imageChat =
  (
    vision: Vision["Service"],
    fetchImage: FetchImage["Service"],
    withoutImages: Operation<ChatRequest, ChatResponse | Stream.Stream<ChatEvent>>
  ): Operation<ChatRequest, ChatResponse | Stream.Stream<ChatEvent>> =>
  (call) => {
    const { origin, request } = call
    const { messages, model } = request
    if (!messages.some(hasImage)) return withoutImages(call)

    const reject = (message: string, code?: string) => messagesRejected(model, message, code)
    return Effect.gen(function* () {
      yield* checkLength(request)
      const parts = messages.flatMap(imagesOf)
      if (parts.length > vision.model.maxImages) {
        return yield* reject(
          `${parts.length} images. The maximum of ${model} is ${vision.model.maxImages} per request`,
          "too_many_images"
        )
      }
      const images = yield* Effect.forEach(parts, ({ image_url: { url } }, position) =>
        Effect.mapError(loadReference(fetchImage, url, "messages", origin), ({ code, message }) =>
          reject(parts.length === 1 ? message : `Image ${position + 1} of ${parts.length}: ${message}`, code)
        )
      )
      const promptTokens = images.reduce(
        (sum, image, position) => sum + embeddedImageTokens(parts[position]?.image_url.detail, image),
        yield* textTokens(request)
      )
      const { text } = yield* vision.look(
        questionOf(messages),
        images.map(({ bytes }) => bytes)
      )
      const pieces = Stream.fromIterable(Array.from(words.segment(text), ({ segment }) => segment))
      return yield* chatResponse(request, { model, promptTokens: () => promptTokens, pieces })
    })
  }
