/** Checks reference pictures by their headers. */
import { type GatewayError, MAX_IMAGE_BYTES } from "@sluice/core"
import { loadImage } from "@sluice/core/media"
import { Effect, Result } from "effect"
import { type MediaOperation, invalidRequest } from "./MediaRequest.ts"
import { MAX_REFERENCE_PIXELS } from "./ReferencePixels.ts"

/** The maximum number in one request. */
export const MAX_REFERENCES = 14

export const invalidReference = (operation: MediaOperation, message: string): GatewayError =>
  invalidRequest(operation, message, "image", "invalid_image")

const errorOf = (image: Uint8Array): string | undefined => {
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
 * The reference pictures of a request.
 *
 * Fails with `InvalidRequest` for more than 14, and for one that is not PNG, JPEG or WEBP, has more than 20 MB or too many
 * pixels. Damaged ones are found when they are decoded.
 */
export const referencesOf = (
  operation: MediaOperation,
  reference: Uint8Array | ReadonlyArray<Uint8Array> | undefined
): Effect.Effect<ReadonlyArray<Uint8Array>, GatewayError> => {
  const images = reference === undefined ? [] : reference instanceof Uint8Array ? [reference] : reference
  const error =
    images.length > MAX_REFERENCES
      ? `${images.length} reference images are too many: give at most ${MAX_REFERENCES}.`
      : images.map(errorOf).find((one) => one !== undefined)
  return error === undefined ? Effect.succeed(images) : Effect.fail(invalidReference(operation, error))
}
