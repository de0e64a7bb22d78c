/** The cost of an image in a chat message, in tokens. */
import type { ImageDetail } from "../contract/Chat.ts"
import type { ImageSize } from "./ImageFormat.ts"

/** The cost of an image of any size with `detail: "low"`. From the interface. */
export const LOW_DETAIL_TOKENS = 85

/** The formula for `high` that OpenAI documents for GPT-4o ("Images and vision", calculating costs). */
const TILE_TOKENS = 170
const TILE = 512
const LONGEST = 2048
const SHORTEST = 768

/** Both in tokens. Equal if the cost is certain. */
export interface TokenRange {
  readonly least: number
  readonly most: number
}

/**
 * The cost with `detail: "high"`. The image is scaled down to fit 2,048 × 2,048, then its shorter side to 768. Each tile of
 * 512 × 512 costs 170, the image itself 85.
 *
 * 1,024 × 1,024 costs 765, 2,048 × 4,096 costs 1,105.
 */
export const highDetailTokens = ({ height, width }: ImageSize): number => {
  const fit = Math.min(1, LONGEST / Math.max(width, height))
  const scale = Math.min(fit, SHORTEST / Math.min(width, height))
  const tiles = (side: number) => Math.max(1, Math.ceil(Math.round(side * scale) / TILE))
  return LOW_DETAIL_TOKENS + TILE_TOKENS * tiles(width) * tiles(height)
}

/** One tile, and 4 × 2 tiles, the most of the formula. */
const UNKNOWN: TokenRange = {
  least: LOW_DETAIL_TOKENS + TILE_TOKENS,
  most: LOW_DETAIL_TOKENS + TILE_TOKENS * 8
}

/**
 * The cost of an image, in tokens.
 *
 * **Details.** `low` is 85. `high` depends on the size; if it is unknown, as for a URL, 255 to 1,445. `auto` is anything
 * from `low` to `high`.
 *
 * **Gotchas.** The interface only says that `high` is computed from the image's size. The formula is OpenAI's; the
 * response's `usage` is what is billed.
 */
export const imageTokens = (detail: ImageDetail = "auto", size?: ImageSize): TokenRange => {
  if (detail === "low") return { least: LOW_DETAIL_TOKENS, most: LOW_DETAIL_TOKENS }
  const high = size === undefined ? UNKNOWN : { least: highDetailTokens(size), most: highDetailTokens(size) }
  return detail === "high" ? high : { least: LOW_DETAIL_TOKENS, most: high.most }
}
