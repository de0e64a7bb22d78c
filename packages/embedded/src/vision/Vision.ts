/** The image understanding of this process: it reads what is written in a picture, and says so. */
import {
  GatewayError,
  InvalidRequest,
  MAX_IMAGE_BYTES,
  type SeenLine,
  Vision,
  type VisionModel
} from "@sluice/core"
import { IMAGE_FORMATS, readImage } from "@sluice/core/media"
import { Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import { readSentences } from "../reader/readSentences.ts"
import { describe } from "./describe.ts"
import { makeOcr, type Ocr } from "./Ocr.ts"
import type { Seen } from "./Seen.ts"

/** OCR, English and simplified Chinese. It knows text, size and colours, and no things. */
export const visionModel: VisionModel = {
  id: "sluice-ocr",
  kind: "extractive",
  maxImages: 20,
  maxImageBytes: MAX_IMAGE_BYTES,
  formats: IMAGE_FORMATS
}

const refuse = (message: string, code?: string) =>
  new GatewayError({
    operation: "vision",
    model: visionModel.id,
    reason: new InvalidRequest({ message, code })
  })

/** Pictures whose lines are kept in mind: another question about the same picture is answered without reading it again. */
const REMEMBERED = 200

const remembering = (see: Ocr["see"]): Ocr["see"] => {
  const known = new Map<string, Seen>()
  return Effect.fn("sluice.remember")(function* (image) {
    const key = createHash("sha256").update(image).digest("hex")
    const before = known.get(key)
    if (before !== undefined) return before
    const seen = yield* see(image)
    if (known.size >= REMEMBERED) for (const oldest of known.keys()) if (known.delete(oldest)) break
    known.set(key, seen)
    return seen
  })
}

/**
 * `Vision` by OCR.
 *
 * **Details.** The lines of the pictures that answer the question; where none does, it says that, and what it saw: each
 * picture's size, colours and text. It counts no tokens, for they cost nothing, and `detail` makes no difference.
 *
 * **Gotchas.** The heavy packages that it needs are optional: see `makeOcr`.
 */
export const layerVision: Layer.Layer<Vision> = Layer.effect(
  Vision,
  Effect.gen(function* () {
    const see = remembering((yield* makeOcr).see)
    const read = Effect.fn("sluice.readPicture")(function* (image: Uint8Array) {
      yield* Effect.mapError(readImage(image), ({ code, message }) => refuse(message, code))
      const { height, lines, width } = yield* see(image)
      return lines.map(({ box: [left, top, wide, high], text }): SeenLine => {
        const inside = (value: number, most: number) => Math.min(most, Math.max(0, value))
        return {
          text,
          box: [
            inside(left, width),
            inside(top, height),
            inside(left + wide, width),
            inside(top + high, height)
          ]
        }
      })
    })

    return Vision.of({
      model: visionModel,
      read,
      look: Effect.fn("sluice.look")(function* (question, images) {
        if (images.length === 0) return yield* refuse("There is no image to look at.")
        if (images.length > visionModel.maxImages) {
          const message = `${images.length} images are more than one question takes (${visionModel.maxImages}). Ask about fewer at a time.`
          return yield* refuse(message)
        }
        const which = (i: number, message: string) => `Image ${i + 1} of ${images.length}: ${message}`
        // All of them before the first is read, which takes a second.
        yield* Effect.forEach(images, (bytes, i) =>
          Effect.mapError(readImage(bytes), ({ code, message }) => refuse(which(i, message), code))
        )
        const seen = yield* Effect.forEach(images, (bytes, i) =>
          Effect.mapError(see(bytes), (error) =>
            error.reason._tag === "InvalidRequest"
              ? refuse(which(i, error.reason.message), error.reason.code)
              : error
          )
        )
        const written = seen.map(({ lines }) => ({
          title: "",
          text: lines.map(({ text }) => text).join("\n")
        }))
        const answer = readSentences(question, written)
        const text = answer.length > 0 ? answer.map(({ text }) => text).join(" ") : describe(question, seen)
        return { text, tokens: 0, answers: answer.length > 0 }
      })
    })
  })
)
