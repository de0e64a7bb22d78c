/** How much two words look alike. */
import type { Term } from "./text/Term.ts"

const trigramsOf = (term: Term): Int32Array =>
  (term.trigrams ??= (() => {
    const framed = `^${term.key}$`
    const hashes = new Set<number>()
    for (let i = 0; i + 3 <= framed.length; i++) {
      hashes.add(
        Math.imul(framed.charCodeAt(i), 0x9e3779b1) ^
          Math.imul(framed.charCodeAt(i + 1), 0x85ebca6b) ^
          Math.imul(framed.charCodeAt(i + 2), 0xc2b2ae35)
      )
    }
    return Int32Array.from(hashes).toSorted()
  })())

/** Dice coefficient of the trigrams of two words' stems, framed by their borders: 0 nothing, 1 everything in common. */
export const similarity = (a: Term, b: Term): number => {
  if (a === b) return 1
  const x = trigramsOf(a)
  const y = trigramsOf(b)
  let common = 0
  for (let i = 0, j = 0; i < x.length && j < y.length;) {
    const left = x[i] as number
    const right = y[j] as number
    if (left === right) common++
    if (left <= right) i++
    if (right <= left) j++
  }
  return (2 * common) / (x.length + y.length || 1)
}
