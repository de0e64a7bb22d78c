/** `Vision` by OCR: it reads the text in pictures. */
import { GatewayError, InvalidRequest, Vision } from "@sluice/core"
import type { RecognizedLine, VisionModel } from "@sluice/core/models"
import { MAX_IMAGE_BYTES } from "@sluice/core/contract"
import { IMAGE_FORMATS, readImage } from "@sluice/core/media"
import { Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import { readPassages } from "../layers.ts"
import { makeOcr, type Ocr, readLanguages } from "./Ocr.ts"
import { describePictures, type PictureContent } from "./PictureContent.ts"

/** OCR of the configured languages. It reads text, size and colours, and doesn't recognise objects. */
export const visionModel: VisionModel = {
  id: "sluice-ocr",
  kind: "extractive",
  maxImages: 20,
  maxImageBytes: MAX_IMAGE_BYTES,
  formats: IMAGE_FORMATS
}

const refuse = (message: string, code?: string) => {
  const reason = new InvalidRequest({ message, code })
  return new GatewayError({ operation: "vision", model: visionModel.id, reason })
}

/** Pictures whose content is cached, so that another question about one needs no OCR. */
const MAX_CACHED = 200

const withCache = (recognize: Ocr["recognize"]): Ocr["recognize"] => {
  const known = new Map<string, PictureContent>()
  return Effect.fn("sluice.ocrCache")(function* (image) {
    const key = createHash("sha256").update(image).digest("hex")
    const cached = known.get(key)
    if (cached !== undefined) return cached
    const content = yield* recognize(image)
    if (known.size >= MAX_CACHED) for (const oldest of known.keys()) if (known.delete(oldest)) break
    known.set(key, content)
    return content
  })
}

/**
 * `Vision` by OCR.
 *
 * **Details.** The answer is the lines of the pictures that answer the question. If none does, the text says so and gives
 * each picture's size, colours and text. It counts no tokens because they cost nothing. `detail` has no effect.
 *
 * **Gotchas.** It needs optional packages: see `makeOcr`.
 */
export const layerVision: Layer.Layer<Vision> = Layer.effect(
  Vision,
  Effect.gen(function* () {
    const recognize = withCache((yield* makeOcr).recognize)
    const read = Effect.fn("sluice.readPicture")(function* (image: Uint8Array) {
      yield* Effect.mapError(readImage(image), ({ code, message }) => refuse(message, code))
      const { height, lines, width } = yield* recognize(image)
      const x = (value: number) => Math.min(width, Math.max(0, value))
      const y = (value: number) => Math.min(height, Math.max(0, value))
      return lines.map(({ box: [left, top, boxWidth, boxHeight], text }): RecognizedLine => ({
        text,
        box: [x(left), y(top), x(left + boxWidth), y(top + boxHeight)]
      }))
    })

    // Without valid languages, each reading fails.
    const languages = yield* Effect.orElseSucceed(readLanguages, () => [])

    return Vision.of({
      model: visionModel,
      read,
      reader: `${visionModel.id} ${languages.join()}`,
      look: Effect.fn("sluice.look")(function* (question, images) {
        if (images.length === 0) return yield* refuse("There is no image. Give at least one.")
        if (images.length > visionModel.maxImages) {
          const message = `${images.length} images are too many: give at most ${visionModel.maxImages}.`
          return yield* refuse(message)
        }
        const refuseImage = (i: number, { code, message }: Pick<InvalidRequest, "code" | "message">) =>
          refuse(`Image ${i + 1} of ${images.length}: ${message}`, code)
        // All headers are checked first, because OCR takes a second per image.
        yield* Effect.forEach(images, (bytes, i) =>
          Effect.mapError(readImage(bytes), (error) => refuseImage(i, error))
        )
        const contents = yield* Effect.forEach(images, (bytes, i) =>
          Effect.mapError(recognize(bytes), (error) =>
            error.reason._tag === "InvalidRequest" ? refuseImage(i, error.reason) : error
          )
        )
        const passages = contents.map(({ lines }) => ({
          title: "",
          text: lines.map(({ text }) => text).join("\n")
        }))
        const answer = yield* readPassages(visionModel.id, question, passages)
        const text =
          answer.length > 0 ? answer.map(({ text }) => text).join(" ") : describePictures(question, contents)
        return { text, tokens: 0, answers: answer.length > 0 }
      })
    })
  })
)
