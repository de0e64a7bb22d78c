/** The library that turns SVG into pixels and pixels into files, loaded when something is drawn. */
import type { GatewayError } from "@sluice/core"
import type { Effect } from "effect"
import type sharp from "sharp"
import type { MediaOperation } from "./MediaRequest.ts"
import { optionalPackage } from "./optionalPackage.ts"

export type Sharp = typeof sharp

/** Fails with `InvalidRequest` where the package is not installed. */
export const loadSharp = (operation: MediaOperation): Effect.Effect<Sharp, GatewayError> =>
  optionalPackage(operation)("sharp", async () => (await import("sharp")).default)
