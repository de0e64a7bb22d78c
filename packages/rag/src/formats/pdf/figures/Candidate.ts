/** A region that may be the figure of a caption. */
import type { Box } from "../../../document/Document.ts"
import type { Caption } from "./Captions.ts"

export type Side = "above" | "below" | "left" | "right"

export interface Candidate {
  readonly caption: Caption
  readonly side: Side
  readonly box: Box
  /** 0 to 1: how much it looks like a figure, or a table, by itself. */
  readonly content: number
  /** From the caption to it, in points. */
  readonly gap: number
  /** Which share of what could be taken it takes, and how wide the gap is where it ends; points. */
  readonly share: number
  readonly cut: number
}
