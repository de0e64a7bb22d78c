/** Pictures to start from, as a request gives them: looked at before anything is decoded. */
import { type GatewayError, MAX_IMAGE_BYTES } from "@sluice/core"
import { loadImage } from "@sluice/core/media"
import { Effect, Result } from "effect"
import { type MediaOperation, refuse } from "./MediaRequest.ts"
import { MAX_REFERENCE_PIXELS } from "./ReferencePixels.ts"

/** Of one request at most. */
export const MAX_REFERENCES = 14

export const refuseReference = (operation: MediaOperation, message: string): GatewayError =>
  refuse(operation, message, "image", "invalid_image")

const faultOf = (image: Uint8Array): string | undefined => {
  if (image.byteLength > MAX_IMAGE_BYTES) return "The reference image has more than 20 MB. Make it smaller."
  const loaded = loadImage(image, "The reference image")
  if (Result.isFailure(loaded)) return loaded.failure
  const { height, width } = loaded.success
  const most = MAX_REFERENCE_PIXELS.toLocaleString("en")
  return width * height > MAX_REFERENCE_PIXELS
    ? `The reference image has more than ${most} pixels. Make it smaller.`
    : undefined
}

/**
 * None, one, or several.
 *
 * Fails with `InvalidRequest` for what is no PNG, JPEG or WEBP, has more than 20 MB or too many pixels, or for more than
 * 14 of them. Whether they are whole is seen when they are decoded.
 */
export const referencesOf = (
  operation: MediaOperation,
  reference: Uint8Array | ReadonlyArray<Uint8Array> | undefined
): Effect.Effect<ReadonlyArray<Uint8Array>, GatewayError> => {
  const images = reference === undefined ? [] : reference instanceof Uint8Array ? [reference] : reference
  const fault =
    images.length > MAX_REFERENCES
      ? `${images.length} reference images are more than ${MAX_REFERENCES}. Give fewer.`
      : images.map(faultOf).find((one) => one !== undefined)
  return fault === undefined ? Effect.succeed(images) : Effect.fail(refuseReference(operation, fault))
}
