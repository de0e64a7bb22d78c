/** Reads what a gateway answers of images: links and Base64 alike, under whichever name. */
import { Duration, Effect } from "effect"
import type { ImageDatum, ImageResponse } from "../../contract/Images.ts"
import { type GatewayReason, InvalidResponse } from "../../contract/GatewayError.ts"
import {
  type GeneratedImage,
  IMAGE_LINK_LIFETIME,
  type ImageAnswer,
  type ImageFault
} from "../../gateway/Images.ts"
import type { ImageGroup } from "../../contract/ImageModels.ts"
import { isDataUri, parseDataUri } from "../../media/ImageSource.ts"
import { taskFailed } from "./Tasks.ts"
import { reasonOfErrorDetails, parseErrorBody } from "../transport/ErrorDetails.ts"

/** Some gateways send an empty text for what there is not, and a data URI where a link or bare Base64 belongs. */
const imageOf = ({ b64_json, base64_json, extra, url }: ImageDatum): GeneratedImage | undefined => {
  const inline = b64_json || base64_json || (url !== undefined && isDataUri(url) ? url : "")
  const base64 = isDataUri(inline) ? (parseDataUri(inline)?.base64 ?? "") : inline
  const link = url !== undefined && /^https?:\/\//i.test(url) && URL.canParse(url) ? url : ""
  if (base64 === "" && link === "") return undefined
  return { ...(link && { url: link }), ...(base64 && { base64 }), ...(extra && { extra }) }
}

const faultOf = ({ extra, url }: ImageDatum): string =>
  parseErrorBody(extra)?.message ??
  (url ? "Its link is neither http nor https." : "It carries neither a link nor Base64.")

/** The answer as the program reads it; `now` in ms since 1970. */
export const answerOf = (
  { data = [], error, extra, id, status }: ImageResponse,
  group: ImageGroup | undefined,
  now: number
): ImageAnswer => {
  const images: Array<GeneratedImage> = []
  const faults: Array<ImageFault> = []
  for (const [index, datum] of data.entries()) {
    const image = imageOf(datum)
    if (image === undefined) faults.push({ index, message: faultOf(datum) })
    else if (group !== "I4" || image.url === undefined) images.push(image)
    else images.push({ ...image, expiresAt: now + Duration.toMillis(IMAGE_LINK_LIFETIME) })
  }
  return {
    ...(id !== undefined && { id }),
    ...(status !== undefined && { status }),
    images,
    faults,
    ...(error !== undefined && { error }),
    ...(extra !== undefined && { extra })
  }
}

/** What gateways call a task that may have more to give than it shows. */
const UNDER_WAY = new Set(["queued", "in_progress", "processing", "pending", "running"])

/** Whether nothing is left to wait for: `completed`, or images and no word that the task is under way. */
export const isDone = ({ images, status }: ImageAnswer): boolean =>
  status === "completed" || (images.length > 0 && !UNDER_WAY.has(status?.toLowerCase() ?? ""))

/** Models that answer at once may give an id all the same, and a status of their own, with nothing to ask for by it. */
export const isMade = (answer: ImageAnswer): boolean =>
  answer.status !== "failed" && (isDone(answer) || answer.images.length > 0)

/** An answer to a creation has images, or the id of a task; what has neither may be a refusal. */
export const judgeCreation = (answer: ImageAnswer): Effect.Effect<ImageAnswer, GatewayReason> => {
  if (isMade(answer)) return judgeImages(answer)
  if (answer.id !== undefined) return Effect.succeed(answer)
  if (answer.status === "failed") return Effect.fail(taskFailed(answer.error))
  const told = parseErrorBody({ ...answer.extra, ...(answer.error !== undefined && { error: answer.error }) })
  return Effect.fail(
    told === undefined
      ? new InvalidResponse({ message: "The answer carries neither images nor the id of a task." })
      : reasonOfErrorDetails(told)
  )
}

/** There is one image at least. */
export const judgeImages = (answer: ImageAnswer): Effect.Effect<ImageAnswer, InvalidResponse> => {
  if (answer.images.length > 0) return Effect.succeed(answer)
  const why = answer.faults[0]?.message ?? "The data is empty."
  return Effect.fail(new InvalidResponse({ message: `The answer is complete and carries no image: ${why}` }))
}
