/** Google's images (Gemini and Imagen) and videos (Veo, as operations). */
import { Effect } from "effect"
import type { Fields, InterfaceRequest, OperationDialect, VendorTaskState } from "../protocol/Dialect.ts"
import { failedState, fieldAt, idAt, imagesResponse, textsIn } from "./MediaResponse.ts"
import {
  defined,
  firstFrame,
  oneImage,
  otherFields,
  referenceImages,
  secondsOf,
  mediaSize
} from "./MediaRequest.ts"

/** The interface's names of fields in errors. */
export const GOOGLE_NAMES = {
  aspect_ratio: "size",
  aspectRatio: "size",
  sampleCount: "n",
  sample_count: "n",
  durationSeconds: "seconds",
  duration_seconds: "seconds"
}

const isImagen = (model: string) => model.startsWith("imagen")

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64")

/** `1K`, `2K`, `4K`. */
const imageSizeOf = ({ size }: InterfaceRequest): string | undefined =>
  typeof size === "string" && /^\dk$/i.test(size) ? size.toUpperCase() : undefined

const listAt = (body: unknown, ...path: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  const value = fieldAt(body, ...path)
  return Array.isArray(value) ? value : []
}

/** A response without images says why: nearly always because it was filtered. */
const imagesOf = (images: ReadonlyArray<string>, why: unknown, code?: string): Fields =>
  images.length > 0
    ? imagesResponse(images.map((b64_json) => ({ b64_json })))
    : { error: failedState(why ?? "No image was generated", code).error }

const geminiResponse = (body: unknown): Fields => {
  const [first] = listAt(body, "candidates")
  const images = listAt(first, "content", "parts").flatMap((part) =>
    textsIn(fieldAt(part, "inlineData", "data"))
  )
  const reason = fieldAt(first, "finishReason") ?? fieldAt(body, "promptFeedback", "blockReason")
  const usage = fieldAt(body, "usageMetadata")
  return {
    ...imagesOf(images, idAt(first, "finishMessage") ?? reason, idAt({ reason }, "reason")),
    usage: defined({
      input_tokens: fieldAt(usage, "promptTokenCount"),
      output_tokens: fieldAt(usage, "candidatesTokenCount"),
      total_tokens: fieldAt(usage, "totalTokenCount")
    })
  }
}

const imagenResponse = (body: unknown): Fields => {
  const predictions = listAt(body, "predictions")
  const [reason] = predictions.flatMap((one) => textsIn(fieldAt(one, "raiFilteredReason")))
  return imagesOf(
    predictions.flatMap((one) => textsIn(fieldAt(one, "bytesBase64Encoded"))),
    reason,
    reason && "content_policy_violation"
  )
}

export const googleImages: OperationDialect = {
  path: ({ model }) => `/v1beta/models/${model}:${isImagen(model) ? "predict" : "generateContent"}`,
  request: (asked, { image }) => {
    const { ratio } = mediaSize(asked)
    const imageSize = imageSizeOf(asked)
    if (isImagen(asked.model)) {
      const parameters = { sampleCount: asked["n"], aspectRatio: ratio, imageSize, ...otherFields(asked) }
      return { instances: [{ prompt: asked["prompt"] }], parameters: defined(parameters) }
    }
    return Effect.gen(function* () {
      const images = yield* Effect.forEach(referenceImages(asked), image)
      const parts = [
        { text: asked["prompt"] },
        ...images.map(({ bytes, mediaType }) => ({
          inlineData: { mimeType: mediaType, data: base64(bytes) }
        }))
      ]
      const imageConfig = defined({ aspectRatio: ratio, imageSize })
      const generationConfig = { responseModalities: ["IMAGE"], imageConfig, ...otherFields(asked) }
      const body = oneImage("Gemini", asked, { contents: [{ role: "user", parts }], generationConfig })
      return Effect.isEffect(body) ? yield* body : body
    })
  },
  response: (body, { model }) => (isImagen(model) ? imagenResponse(body) : geminiResponse(body))
}

/** Files of the API need the key, so they are paths. */
const FILE = /^https?:\/\/[^/]+(\/v1beta\/files\/.+)$/

const videoState = (body: unknown): VendorTaskState => {
  if (fieldAt(body, "done") !== true) return { status: "in_progress" }
  const error = fieldAt(body, "error")
  if (error !== undefined) return failedState(fieldAt(error, "message"), fieldAt(error, "status"))
  const response = fieldAt(body, "response", "generateVideoResponse")
  const files = listAt(response, "generatedSamples")
    .flatMap((sample) => textsIn(fieldAt(sample, "video", "uri")))
    .map((uri) => FILE.exec(uri)?.[1] ?? uri)
  return files.length > 0
    ? { status: "completed", files }
    : failedState(idAt(response, "raiMediaFilteredReasons", "0"), "content_policy_violation")
}

export const googleVideos: OperationDialect = {
  path: ({ model }) => `/v1beta/models/${model}:predictLongRunning`,
  request: (asked, { image }) =>
    Effect.gen(function* () {
      const frame = firstFrame(asked)
      const first = frame === undefined ? undefined : yield* image(frame)
      const { ratio, resolution } = mediaSize(asked)
      const parameters = {
        aspectRatio: ratio,
        resolution,
        durationSeconds: secondsOf(asked),
        ...otherFields(asked)
      }
      const instance = {
        prompt: asked["prompt"],
        image: first && { bytesBase64Encoded: base64(first.bytes), mimeType: first.mediaType }
      }
      return { instances: [defined(instance)], parameters: defined(parameters) }
    }),
  task: {
    reference: (body) => idAt(body, "name"),
    status: (name) => ({ path: `/v1beta/${name}` }),
    state: videoState
  }
}
