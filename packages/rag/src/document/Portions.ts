/** Portions of work over many items: the thread that answers does other work between them. */
import type { Passage } from "./Document.ts"

/** Consecutive items. A portion ends with the item that reaches the weight. */
export function* inPortions<A>(
  items: ReadonlyArray<A>,
  weight: number,
  weightOf: (item: A) => number
): Generator<ReadonlyArray<A>> {
  let from = 0
  let sum = 0
  for (let i = 0; i < items.length; i++) {
    sum += weightOf(items[i]!)
    if (sum < weight && i < items.length - 1) continue
    yield items.slice(from, i + 1)
    from = i + 1
    sum = 0
  }
}

/** So many locators or lines take as long as the rest of a passage. Subtitles and cells have up to 1,600 in one. */
const PARTS = 50

/** 1 for a passage without locators and lines. */
export const passageWeight = ({ lines, locators = [] }: Passage): number =>
  1 + (lines.length + locators.length) / PARTS
