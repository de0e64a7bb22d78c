/** What image and video requests share: checks, errors, and the library that draws. */
import { GatewayError, InvalidRequest, ServerFailure } from "@sluice/core"
import { Effect } from "effect"
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

/** Fails with `InvalidRequest` for sides that are not integers, or outside the limits. */
export const checkSize = (
  operation: MediaOperation,
  { height, width }: Size,
  { maxPixels, minSide, maxSide }: SizeLimits
): Effect.Effect<void, GatewayError> => {
  const isValid = (side: number) => Number.isInteger(side) && side >= minSide && side <= maxSide
  if (isValid(width) && isValid(height) && width * height <= maxPixels) return Effect.void
  const most = maxPixels.toLocaleString("en")
  const message = `${width} × ${height} pixels is not a valid size: a side has ${minSide} to ${maxSide} whole pixels, and a picture at most ${most}.`
  return Effect.fail(invalidRequest(operation, message, "size"))
}

/** Fails with `InvalidRequest` for a seed that is not an integer. */
export const checkSeed = (operation: MediaOperation, seed: number): Effect.Effect<void, GatewayError> =>
  Number.isSafeInteger(seed)
    ? Effect.void
    : Effect.fail(invalidRequest(operation, `${seed} is not a valid seed: give a whole number.`, "seed"))

export type Sharp = typeof sharp

/** Loads sharp. Fails with `InvalidRequest` if it is not installed. */
export const loadSharp = (operation: MediaOperation): Effect.Effect<Sharp, GatewayError> =>
  optionalPackage(operation)("sharp", async () => (await import("sharp")).default)
