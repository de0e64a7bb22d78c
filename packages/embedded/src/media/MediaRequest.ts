/** What every request for media is checked for, and how it is refused. */
import { GatewayError, InvalidRequest } from "@sluice/core"
import { Effect } from "effect"

/** Which call it is, as errors name it. */
export type MediaOperation = "images" | "videos"

export const refuse = (operation: MediaOperation, message: string, param?: string, code?: string) =>
  new GatewayError({ operation, reason: new InvalidRequest({ message, param, code }) })

/** How large a picture may be, in pixels. */
export interface SizeLimits {
  readonly sideAtLeast: number
  readonly sideAtMost: number
  readonly pixelsAtMost: number
}

export interface Size {
  /** In pixels. */
  readonly width: number
  readonly height: number
}

/** Fails with `InvalidRequest` for sides that are no whole numbers, or outside the limits. */
export const checkSize = (
  operation: MediaOperation,
  { height, width }: Size,
  { pixelsAtMost, sideAtLeast, sideAtMost }: SizeLimits
): Effect.Effect<void, GatewayError> => {
  const good = (side: number) => Number.isInteger(side) && side >= sideAtLeast && side <= sideAtMost
  if (good(width) && good(height) && width * height <= pixelsAtMost) return Effect.void
  const most = pixelsAtMost.toLocaleString("en")
  const message = `${width} × ${height} pixels cannot be drawn: a side has ${sideAtLeast} to ${sideAtMost} whole pixels, a picture ${most} at most. Ask for another size.`
  return Effect.fail(refuse(operation, message, "size"))
}

/** Fails with `InvalidRequest` for a seed that is no whole number. */
export const checkSeed = (operation: MediaOperation, seed: number): Effect.Effect<void, GatewayError> =>
  Number.isSafeInteger(seed)
    ? Effect.void
    : Effect.fail(refuse(operation, `${seed} is no seed: give a whole number.`, "seed"))
