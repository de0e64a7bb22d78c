/** Builds the request of an image creation. */
import { Effect, Record, String } from "effect"
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
  const call: Omit<AnyImageCall, "group"> & { readonly group?: ImageGroup | undefined } =
    yield* Effect.fromResult(validateImageCall(grouped))
  const { image } = call
  const sources = image === undefined ? [] : isList(image) ? image : [image]
  const images = yield* Effect.mapError(
    Effect.forEach(sources, (source) => Effect.map(readImage(source), ({ wire }) => wire)),
    ({ code, message }) => new InvalidRequest({ message, code, param: "image" })
  )
  const { extra, group: _, ...fields } = { ...call, image: isList(image) ? images : images[0] }
  const refused = validateExtra(extra, ImageRequest)
  if (refused !== undefined) return yield* refused
  // The fields of the request are those of the call, in snake case.
  const payload = Record.mapKeys(fields, String.camelToSnake) as unknown as ImageRequest
  return extra === undefined ? payload : { ...payload, extra }
})
