/** Builds the request of an image creation. */
import { Effect } from "effect"
import { validateExtra } from "../../contract/Fields.ts"
import { InvalidRequest } from "../../contract/GatewayError.ts"
import {
  validateImageCall,
  type ImageCall,
  type ImageGroup,
  type ImageSource,
  type AnyImageCall
} from "../../contract/ImageModels.ts"
import { ImageRequest } from "../../contract/Images.ts"
import { readImage } from "../../media/ImageSource.ts"

const isList = (image: AnyImageCall["image"]): image is ReadonlyArray<ImageSource> => Array.isArray(image)

/** The request of a call, validated against its group if that is known. Reads image files. */
export const imagePayload = Effect.fnUntraced(function* (request: ImageCall, group: ImageGroup | undefined) {
  const grouped = group === undefined ? request : ({ ...request, group } as ImageCall)
  const call: Omit<AnyImageCall, "group"> = yield* Effect.fromResult(validateImageCall(grouped))
  const { extra, image, model, n, prompt, quality, raw, seed, size, watermark } = call
  const sources = image === undefined ? [] : isList(image) ? image : [image]
  const images = yield* Effect.mapError(
    Effect.forEach(sources, (source) => Effect.map(readImage(source), ({ wire }) => wire)),
    ({ code, message }) => new InvalidRequest({ message, code, param: "image" })
  )
  const payload: ImageRequest = {
    model,
    prompt,
    size,
    n,
    quality,
    image: isList(image) ? images : images[0],
    input_fidelity: call.inputFidelity,
    moderation: call.moderation,
    output_format: call.outputFormat,
    safety_tolerance: call.safetyTolerance,
    aspect_ratio: call.aspectRatio,
    seed,
    raw,
    watermark,
    sequential_image_generation: call.sequentialImageGeneration,
    response_format: call.responseFormat
  }
  const refused = validateExtra(extra, ImageRequest)
  if (refused !== undefined) return yield* refused
  return extra === undefined ? payload : { ...payload, extra }
})
