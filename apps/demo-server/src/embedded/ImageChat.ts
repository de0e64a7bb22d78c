/** Chat about images by a `Vision` of this process; a message without images is answered from its text. */
import type { ChatEvent, ChatRequest, ChatResponse } from "@sluice/core/contract"
import type { ChatMessage, ImageDetail, Vision } from "@sluice/core"
import { highDetailTokens, type ImageSize, LOW_DETAIL_TOKENS } from "@sluice/core/media"
import { Effect, Stream } from "effect"
import type { FetchImage } from "../media/FetchImage.ts"
import type { Operation } from "../routing/Provider.ts"
import { checkLength, refusedMessages, textTokens } from "./Chat.ts"
import { answer } from "./ChatAnswer.ts"
import { hasImage, imagesOf, textOf } from "./Conversation.ts"
import { referenceImage } from "./ReferenceImage.ts"

/** An image whose sides are no longer is seen whole at a glance: `auto` is `low` for it, and `high` for others. */
const GLANCE = 512

/** What an image costs, in tokens. */
export const imageCost = (detail: ImageDetail | null | undefined, size: ImageSize): number => {
  const glance = Math.max(size.width, size.height) <= GLANCE
  const chosen = detail === "low" || detail === "high" ? detail : glance ? "low" : "high"
  return chosen === "low" ? LOW_DETAIL_TOKENS : highDetailTokens(size)
}

/** The text of the user's last message. */
const questionOf = (messages: ReadonlyArray<ChatMessage>): string => {
  const last = messages.findLast(({ role }) => role === "user")
  return last === undefined ? "" : textOf(last).trim()
}

const words = new Intl.Segmenter(undefined, { granularity: "word" })

/** Looks at the images of all messages together, and answers the last one. */
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

    const refuse = (message: string, code?: string) => refusedMessages(model, message, code)
    return Effect.gen(function* () {
      yield* checkLength(request)
      const parts = messages.flatMap(imagesOf)
      if (parts.length > vision.model.maxImages) {
        return yield* refuse(
          `${parts.length} images: ${model} looks at ${vision.model.maxImages} at most in one request`,
          "too_many_images"
        )
      }
      const images = yield* Effect.forEach(parts, ({ image_url: { url } }, position) =>
        Effect.mapError(referenceImage(fetchImage, url, "messages", origin), ({ code, message }) =>
          refuse(parts.length === 1 ? message : `Image ${position + 1} of ${parts.length}: ${message}`, code)
        )
      )
      const promptTokens = images.reduce(
        (sum, image, position) => sum + imageCost(parts[position]?.image_url.detail, image),
        textTokens(request)
      )
      const { text } = yield* vision.look(
        questionOf(messages),
        images.map(({ bytes }) => bytes)
      )
      const pieces = Stream.fromIterable(Array.from(words.segment(text), ({ segment }) => segment))
      return yield* answer(request, { model, promptTokens, pieces })
    })
  }
