/** What an image of a chat message costs in tokens. */
import type { ImageDetail } from "../contract/Chat.ts"
import type { ImageSize } from "./ImageFormat.ts"

/** Of an image with `detail: "low"`, whatever its size; the gateway's own figure. */
export const LOW_DETAIL_TOKENS = 85

/** The formula for `high` that OpenAI documents for GPT-4o ("Images and vision", calculating costs). */
const TILE_TOKENS = 170
const TILE = 512
const LONGEST = 2048
const SHORTEST = 768

/** Both in tokens; equal where it is sure. */
export interface TokenRange {
  readonly least: number
  readonly most: number
}

/**
 * The cost with `detail: "high"`: the image is made to fit 2,048 × 2,048, then its shorter side is made 768, never
 * larger; each tile of 512 × 512 that it then needs costs 170, and the whole 85.
 *
 * 1,024 × 1,024 costs 765, 2,048 × 4,096 costs 1,105.
 */
export const highDetailTokens = ({ height, width }: ImageSize): number => {
  const fit = Math.min(1, LONGEST / Math.max(width, height))
  const scale = Math.min(fit, SHORTEST / Math.min(width, height))
  const tiles = (side: number) => Math.max(1, Math.ceil(Math.round(side * scale) / TILE))
  return LOW_DETAIL_TOKENS + TILE_TOKENS * tiles(width) * tiles(height)
}

/** One tile; and 4 × 2, the most that the formula gives. */
const UNKNOWN: TokenRange = {
  least: LOW_DETAIL_TOKENS + TILE_TOKENS,
  most: LOW_DETAIL_TOKENS + TILE_TOKENS * 8
}

/**
 * What an image costs, in tokens.
 *
 * **Details.** `low` is 85. `high` follows from the size; without one (behind a URL) it is 255 to 1,445. `auto` is
 * anything from `low` to `high`.
 *
 * **Gotchas.** For `high` the interface says only "computed from image size": the formula is that of the models it is
 * modelled on. Others count otherwise; the answer's `usage` is what is billed.
 */
export const imageTokens = (detail: ImageDetail = "auto", size?: ImageSize): TokenRange => {
  if (detail === "low") return { least: LOW_DETAIL_TOKENS, most: LOW_DETAIL_TOKENS }
  const high = size === undefined ? UNKNOWN : { least: highDetailTokens(size), most: highDetailTokens(size) }
  return detail === "high" ? high : { least: LOW_DETAIL_TOKENS, most: high.most }
}
