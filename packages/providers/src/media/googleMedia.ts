/** Google's images (Gemini and Imagen) and videos (Veo, as operations). */
import { Effect } from "effect"
import type { Fields, InterfaceRequest, OperationDialect, VendorTaskState } from "../protocol/Dialect.ts"
import { failedState, idAt, imagesResponse, textsAt } from "./MediaResponse.ts"
import { firstFrame, mediaValues, oneImage, referenceImages, vendorFields } from "./MediaRequest.ts"
import { base64Of } from "../text/Chat.ts"
import { inlineImage } from "../text/googleRequest.ts"
import { itemsAt, jsonAt, present } from "../protocol/JsonValues.ts"

const isImagen = (model: string) => model.startsWith("imagen")

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
  const images = textsAt(first, "content.parts.inlineData.data")
  const reason = jsonAt(first, "finishReason") ?? jsonAt(body, "promptFeedback", "blockReason")
  // The model may say in words that it cannot draw this.
  const [text] = textsAt(first, "content.parts.text")
  const usage = jsonAt(body, "usageMetadata")
  return {
    ...imagesOf(images, idAt(first, "finishMessage") ?? text ?? reason, idAt({ reason }, "reason")),
    usage: present({
      input_tokens: jsonAt(usage, "promptTokenCount"),
      output_tokens: jsonAt(usage, "candidatesTokenCount"),
      total_tokens: jsonAt(usage, "totalTokenCount")
    })
  }
}

const imagenResponse = (body: unknown): Fields => {
  const [reason] = textsAt(body, "predictions.raiFilteredReason")
  return imagesOf(
    textsAt(body, "predictions.bytesBase64Encoded"),
    reason,
    reason && "content_policy_violation"
  )
}

export const googleImages: OperationDialect = {
  path: ({ model }) => `/v1beta/models/${model}:${isImagen(model) ? "predict" : "generateContent"}`,
  request: Effect.fnUntraced(function* (asked, tools) {
    const { model, n, prompt, ratio } = mediaValues(asked)
    const imageSize = imageSizeOf(asked)
    if (isImagen(model)) {
      const parameters = vendorFields(asked, { sampleCount: n, aspectRatio: ratio, imageSize })
      return { instances: [{ prompt }], parameters }
    }
    const several = oneImage("Gemini", { n })
    if (several !== undefined) return yield* Effect.fail(several)
    const images = yield* Effect.forEach(referenceImages(asked), (image) => inlineImage(image, tools))
    const generationConfig = vendorFields(asked, {
      // One image is billed, so one is made.
      candidateCount: undefined,
      responseModalities: ["IMAGE"],
      imageConfig: present({ aspectRatio: ratio, imageSize })
    })
    return { contents: [{ role: "user", parts: [{ text: prompt }, ...images] }], generationConfig }
  }),
  response: (body, { model }) => (isImagen(model) ? imagenResponse(body) : geminiResponse(body))
}

/** Files of the API need the key, so they are paths. */
const FILE = /^https?:\/\/[^/]+(\/v1beta\/files\/.+)$/

const videoState = (body: unknown): VendorTaskState => {
  if (jsonAt(body, "done") !== true) return { status: "in_progress" }
  const error = jsonAt(body, "error")
  if (error !== undefined) return failedState(jsonAt(error, "message"), jsonAt(error, "status"))
  const response = jsonAt(body, "response", "generateVideoResponse")
  const files = textsAt(response, "generatedSamples.video.uri").map((uri) => FILE.exec(uri)?.[1] ?? uri)
  return files.length > 0
    ? { status: "completed", files }
    : failedState(idAt(response, "raiMediaFilteredReasons", "0"), "content_policy_violation")
}

export const googleVideos: OperationDialect = {
  path: ({ model }) => `/v1beta/models/${model}:predictLongRunning`,
  request: Effect.fnUntraced(function* (asked, tools) {
    const { prompt, ratio, resolution, seconds } = mediaValues(asked)
    const frame = firstFrame(asked)
    const first = frame === undefined ? undefined : yield* base64Of(frame, tools)
    const parameters = vendorFields(asked, {
      // One video is billed, so one is made.
      sampleCount: undefined,
      aspectRatio: ratio,
      resolution,
      durationSeconds: seconds
    })
    const image = first && { bytesBase64Encoded: first.data, mimeType: first.mediaType }
    return { instances: [present({ prompt, image })], parameters }
  }),
  task: {
    reference: (body) => idAt(body, "name"),
    status: (name) => ({ path: `/v1beta/${name}` }),
    state: videoState
  }
}
