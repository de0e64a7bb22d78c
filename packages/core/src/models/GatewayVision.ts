/** A `Vision` that uses a multimodal chat model of the gateway. */
import { Effect, Layer } from "effect"
import { MAX_IMAGE_BYTES } from "../contract/Chat.ts"
import { Gateway } from "../gateway/Gateway.ts"
import { GatewayError, InvalidRequest } from "../contract/GatewayError.ts"
import { IMAGE_FORMATS } from "../media/ImageFormat.ts"
import { readImage } from "../media/ImageSource.ts"
import { Vision } from "./Vision.ts"

/** The chat model and its limits. */
export interface GatewayVisionOptions {
  readonly model: string
  /** Tokens of one answer at most; the model's own limit when not given. */
  readonly maxTokens?: number
  /** Images of one question at most; `MAX_IMAGES_PER_QUESTION` when not given. */
  readonly maxImages?: number
}

/** What the common vision models take in one question. The interface gives no limit. */
export const MAX_IMAGES_PER_QUESTION = 20

/**
 * Derives a `Vision` from `Gateway`.
 *
 * **Details.** One chat message: the question, then the images as data URIs in their order. PNG, JPEG and WEBP, each at
 * most 20 MB. The model is asked to be as deterministic as it can (temperature 0).
 *
 * **Gotchas.** What stands in an image is shown to the model like everything else: text in it may be taken for an
 * instruction. Images by their public URL, which the gateway fetches itself, go through `Gateway.chat`.
 */
export const layer = (options: GatewayVisionOptions): Layer.Layer<Vision, never, Gateway> =>
  Layer.effect(
    Vision,
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { maxImages = MAX_IMAGES_PER_QUESTION, maxTokens, model } = options

      const refuse = (reason: InvalidRequest) => new GatewayError({ operation: "vision", model, reason })

      /** Why so many are not taken. */
      const refusal = (count: number): string | undefined => {
        if (count === 0) return "There is no image to look at. For text alone, use `Gateway.chat`."
        return count > maxImages
          ? `${count} images are more than one question takes (${maxImages}). Ask about fewer at a time.`
          : undefined
      }

      return Vision.of({
        model: {
          id: model,
          kind: "generative",
          maxImages,
          maxImageBytes: MAX_IMAGE_BYTES,
          formats: IMAGE_FORMATS
        },
        look: Effect.fn("GatewayVision.look")(function* (question, images, { detail } = {}) {
          const message = refusal(images.length)
          if (message !== undefined) return yield* refuse(new InvalidRequest({ message }))
          const parts = yield* Effect.forEach(images, (bytes, i) =>
            Effect.mapBoth(readImage(bytes), {
              onSuccess: ({ url }) => ({ type: "image_url" as const, image_url: { url, detail } }),
              onFailure: ({ code, message }) =>
                refuse(
                  new InvalidRequest({ code, message: `Image ${i + 1} of ${images.length}: ${message}` })
                )
            })
          )
          const { completionTokens, promptTokens, text } = yield* gateway.chat({
            model,
            messages: [{ role: "user", content: [{ type: "text", text: question }, ...parts] }],
            temperature: 0,
            ...(maxTokens !== undefined && { maxTokens })
          })
          return { text, tokens: promptTokens + completionTokens }
        })
      })
    })
  )
