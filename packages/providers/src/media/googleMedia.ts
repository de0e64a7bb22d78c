/** Google's images (Gemini and Imagen) and videos (Veo, as operations). */
import { Effect } from "effect"
import type { Fields, InterfaceRequest, OperationDialect, VendorTaskState } from "../protocol/Dialect.ts"
import { failedState, idAt, imagesResponse, textsIn } from "./MediaResponse.ts"
import { firstFrame, oneImage, vendorFields, referenceImages, secondsOf, mediaSize } from "./MediaRequest.ts"
import { itemsAt, jsonAt, present } from "../text/Values.ts"

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

/** A response without images says why: nearly always because it was filtered. */
const imagesOf = (images: ReadonlyArray<string>, why: unknown, code?: string): Fields =>
  images.length > 0
    ? imagesResponse(images.map((b64_json) => ({ b64_json })))
    : { error: failedState(why ?? "No image was generated", code).error }

const geminiResponse = (body: unknown): Fields => {
  const [first] = itemsAt(body, "candidates")
  const images = itemsAt(first, "content", "parts").flatMap((part) =>
    textsIn(jsonAt(part, "inlineData", "data"))
  )
  const reason = jsonAt(first, "finishReason") ?? jsonAt(body, "promptFeedback", "blockReason")
  const usage = jsonAt(body, "usageMetadata")
  return {
    ...imagesOf(images, idAt(first, "finishMessage") ?? reason, idAt({ reason }, "reason")),
    usage: present({
      input_tokens: jsonAt(usage, "promptTokenCount"),
      output_tokens: jsonAt(usage, "candidatesTokenCount"),
      total_tokens: jsonAt(usage, "totalTokenCount")
    })
  }
}

const imagenResponse = (body: unknown): Fields => {
  const predictions = itemsAt(body, "predictions")
  const [reason] = predictions.flatMap((one) => textsIn(jsonAt(one, "raiFilteredReason")))
  return imagesOf(
    predictions.flatMap((one) => textsIn(jsonAt(one, "bytesBase64Encoded"))),
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
      const parameters = vendorFields(asked, { sampleCount: asked["n"], aspectRatio: ratio, imageSize })
      return { instances: [{ prompt: asked["prompt"] }], parameters }
    }
    return Effect.gen(function* () {
      const images = yield* Effect.forEach(referenceImages(asked), image)
      const parts = [
        { text: asked["prompt"] },
        ...images.map(({ bytes, mediaType }) => ({
          inlineData: { mimeType: mediaType, data: base64(bytes) }
        }))
      ]
      const imageConfig = present({ aspectRatio: ratio, imageSize })
      const generationConfig = vendorFields(asked, {
        // One image is billed, so one is made.
        candidateCount: undefined,
        responseModalities: ["IMAGE"],
        imageConfig
      })
      const body = oneImage("Gemini", asked, { contents: [{ role: "user", parts }], generationConfig })
      return Effect.isEffect(body) ? yield* body : body
    })
  },
  response: (body, { model }) => (isImagen(model) ? imagenResponse(body) : geminiResponse(body))
}

/** Files of the API need the key, so they are paths. */
const FILE = /^https?:\/\/[^/]+(\/v1beta\/files\/.+)$/

const videoState = (body: unknown): VendorTaskState => {
  if (jsonAt(body, "done") !== true) return { status: "in_progress" }
  const error = jsonAt(body, "error")
  if (error !== undefined) return failedState(jsonAt(error, "message"), jsonAt(error, "status"))
  const response = jsonAt(body, "response", "generateVideoResponse")
  const files = itemsAt(response, "generatedSamples")
    .flatMap((sample) => textsIn(jsonAt(sample, "video", "uri")))
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
      const parameters = vendorFields(asked, {
        // One video is billed, so one is made.
        sampleCount: undefined,
        aspectRatio: ratio,
        resolution,
        durationSeconds: secondsOf(asked)
      })
      const instance = {
        prompt: asked["prompt"],
        image: first && { bytesBase64Encoded: base64(first.bytes), mimeType: first.mediaType }
      }
      return { instances: [present(instance)], parameters }
    }),
  task: {
    reference: (body) => idAt(body, "name"),
    status: (name) => ({ path: `/v1beta/${name}` }),
    state: videoState
  }
}
