/** Portions of work over many items: the thread that answers does other work between them. */
import { setImmediate } from "node:timers/promises"
import type { Passage } from "./Document.ts"

/** Bytes that are copied before other work runs. They take about 5 ms, because the memory is new. */
const COPY_BYTES = 4 * 1024 * 1024

/** Joins bytes into a buffer of their own. Other work runs after each 4 MiB that are copied. */
export const joinInPortions = async (parts: ReadonlyArray<Uint8Array>): Promise<Buffer<ArrayBuffer>> => {
  const joined = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts)
    for (let from = 0; from < part.length; from += COPY_BYTES) {
      const piece = part.subarray(from, from + COPY_BYTES)
      joined.set(piece, at)
      if ((at % COPY_BYTES) + piece.length >= COPY_BYTES) await setImmediate()
      at += piece.length
    }
  return joined
}

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
