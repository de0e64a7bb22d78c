/** Reads image responses: links and Base64, under all known field names. */
import { Duration, Effect } from "effect"
import { definedFields } from "../../DefinedFields.ts"
import { type GatewayReason, InvalidResponse } from "../../contract/GatewayError.ts"
import type { ImageGroup } from "../../contract/ImageModels.ts"
import type { ImageDatum, ImageResponse } from "../../contract/Images.ts"
import {
  type GeneratedImage,
  IMAGE_LINK_LIFETIME,
  type ImageAnswer,
  type ImageFault
} from "../../gateway/Images.ts"
import { isDataUri, parseDataUri } from "../../media/ImageSource.ts"
import { parseErrorBody, reasonOfBody } from "../transport/ErrorDetails.ts"
import { taskFailed } from "./Tasks.ts"

/** Some gateways send an empty text for a missing value, and a data URI in place of a link or of bare Base64. */
const parseImage = ({ b64_json, base64_json, extra, url }: ImageDatum): GeneratedImage | undefined => {
  const inline = b64_json || base64_json || (url !== undefined && isDataUri(url) ? url : "")
  const base64 = isDataUri(inline) ? (parseDataUri(inline)?.base64 ?? "") : inline
  const link = url !== undefined && /^https?:\/\//i.test(url) && URL.canParse(url) ? url : ""
  if (base64 === "" && link === "") return undefined
  return { ...(link && { url: link }), ...(base64 && { base64 }), ...(extra && { extra }) }
}

const describeFault = ({ extra, url }: ImageDatum): string =>
  parseErrorBody(extra)?.message ??
  (url ? "Its link is not an http or https URL." : "It has neither a link nor Base64.")

/** The response as the program sees it. `now` is in ms since 1970. */
export const parseImages = (
  { data = [], error, extra, id, status }: ImageResponse,
  group: ImageGroup | undefined,
  now: number
): ImageAnswer => {
  const images: Array<GeneratedImage> = []
  const faults: Array<ImageFault> = []
  for (const [index, datum] of data.entries()) {
    const image = parseImage(datum)
    if (image === undefined) faults.push({ index, message: describeFault(datum) })
    else if (group !== "I4" || image.url === undefined) images.push(image)
    else images.push({ ...image, expiresAt: now + Duration.toMillis(IMAGE_LINK_LIFETIME) })
  }
  return definedFields({ id, status, images, faults, error, extra })
}

/** Statuses of a task that may return more images. */
const RUNNING = new Set(["queued", "in_progress", "processing", "pending", "running"])

/** Whether the task has ended: `completed`, or images with a status that does not say that it runs. */
export const isDone = ({ images, status }: ImageAnswer): boolean =>
  status === "completed" || (images.length > 0 && !RUNNING.has(status?.toLowerCase() ?? ""))

/** Whether a creation already returned its result. Some one-step models return an id as well, which cannot be polled. */
export const hasImageResult = (answer: ImageAnswer): boolean =>
  answer.status !== "failed" && (isDone(answer) || answer.images.length > 0)

/** A creation returns images or the id of a task. A response with neither may be an error. */
export const validateCreation = (answer: ImageAnswer): Effect.Effect<ImageAnswer, GatewayReason> => {
  if (hasImageResult(answer)) return requireImages(answer)
  if (answer.id !== undefined) return Effect.succeed(answer)
  if (answer.status === "failed") return Effect.fail(taskFailed(answer.error))
  const { error, extra } = answer
  const message = "The response has neither images nor the id of a task."
  const refusal = reasonOfBody({ ...extra, ...definedFields({ error }) })
  return Effect.fail(refusal ?? new InvalidResponse({ message }))
}

/** Fails if a completed response has no image. */
export const requireImages = (answer: ImageAnswer): Effect.Effect<ImageAnswer, InvalidResponse> => {
  if (answer.images.length > 0) return Effect.succeed(answer)
  const why = answer.faults[0]?.message ?? "The data is empty."
  return Effect.fail(new InvalidResponse({ message: `The completed response has no image: ${why}` }))
}
