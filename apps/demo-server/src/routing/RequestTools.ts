/** What dialects need to map requests. */
import { mediaTypeOf } from "@sluice/core/media"
import type { RequestTools } from "@sluice/providers"
import { Effect } from "effect"
import { fetchImageWithin, loadReference, publicAddressPolicy } from "../media/FetchImage.ts"

const fetchPublic = fetchImageWithin(publicAddressPolicy)

/** Images are fetched from the public internet only. */
export const requestTools: RequestTools = {
  image: (image) =>
    loadReference(fetchPublic, image, "image", "").pipe(
      Effect.map(({ bytes, format }) => ({ bytes, mediaType: mediaTypeOf(format) })),
      Effect.mapError(({ code, message, param }) => ({ code, message, param }))
    )
}
