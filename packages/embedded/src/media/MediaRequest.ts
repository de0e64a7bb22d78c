/** What image and video requests share: checks, errors, and the library that draws. */
import { GatewayError, InvalidRequest, ServerFailure } from "@sluice/core"
import { MAX_IMAGE_BYTES } from "@sluice/core/contract"
import { loadImage, MAX_IMAGE_PIXELS } from "@sluice/core/media"
import { Effect, Result } from "effect"
import type sharp from "sharp"
import { optionalPackage } from "../optionalPackage.ts"

/** The operation that errors name. */
export type MediaOperation = "images" | "videos"

export const invalidRequest = (operation: MediaOperation, message: string, param?: string, code?: string) =>
  new GatewayError({ operation, reason: new InvalidRequest({ message, param, code }) })

/** A request that is not worth a retry. */
export const drawingFailure = (operation: MediaOperation, message: string) =>
  new GatewayError({ operation, reason: new ServerFailure({ message, status: 500, final: true }) })

/** Limits of a size, in pixels. */
export interface SizeLimits {
  readonly minSide: number
  readonly maxSide: number
  readonly maxPixels: number
}

export interface Size {
  /** In pixels. */
  readonly width: number
  readonly height: number
}

export type Sharp = typeof sharp

/** Loads sharp. Fails with `InvalidRequest` if it is not installed. */
export const loadSharp = (operation: MediaOperation): Effect.Effect<Sharp, GatewayError> =>
  optionalPackage(operation)("sharp", async () => (await import("sharp")).default)

/** The maximum number of reference pictures in one request. */
export const MAX_REFERENCES = 14

export const invalidReference = (operation: MediaOperation, message: string): GatewayError =>
  invalidRequest(operation, message, "image", "invalid_image")

const referenceError = (image: Uint8Array): string | undefined => {
  if (image.byteLength > MAX_IMAGE_BYTES) return "The reference image has more than 20 MB. Make it smaller."
  const loaded = loadImage(image, "The reference image")
  if (Result.isFailure(loaded)) return loaded.failure
  const { height, width } = loaded.success
  const most = MAX_IMAGE_PIXELS.toLocaleString("en")
  return width * height > MAX_IMAGE_PIXELS
    ? `The reference image has more than ${most} pixels. Make it smaller.`
    : undefined
}

interface MediaRequest extends Size {
  readonly seed?: number | undefined
  readonly reference?: Uint8Array | ReadonlyArray<Uint8Array> | undefined
}

/**
 * Checks a request, and returns its reference pictures.
 *
 * Fails with `InvalidRequest` for sides that are not integers or outside the limits, for a seed that is not an integer, for
 * more than 14 references, and for one that is not PNG, JPEG or WEBP, has more than 20 MB or too many pixels. Damaged ones
 * are found when they are decoded.
 */
export const checkRequest = Effect.fnUntraced(function* (
  operation: MediaOperation,
  { height, reference = [], seed = 0, width }: MediaRequest,
  { maxPixels, maxSide, minSide }: SizeLimits
) {
  const isValid = (side: number) => Number.isInteger(side) && side >= minSide && side <= maxSide
  if (!isValid(width) || !isValid(height) || width * height > maxPixels) {
    const most = maxPixels.toLocaleString("en")
    const message = `${width} × ${height} pixels is not a valid size: a side has ${minSide} to ${maxSide} whole pixels, and a picture at most ${most}.`
    return yield* invalidRequest(operation, message, "size")
  }
  if (!Number.isSafeInteger(seed))
    return yield* invalidRequest(operation, `${seed} is not a valid seed: give a whole number.`, "seed")
  const images = reference instanceof Uint8Array ? [reference] : reference
  const error =
    images.length > MAX_REFERENCES
      ? `${images.length} reference images are too many: give at most ${MAX_REFERENCES}.`
      : images.map(referenceError).find((one) => one !== undefined)
  return error === undefined ? images : yield* invalidReference(operation, error)
})
