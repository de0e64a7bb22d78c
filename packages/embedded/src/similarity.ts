/** How much two words look alike. */
import type { Term, Trigrams } from "./text/Term.ts"

const trigramsOf = (term: Term): Trigrams =>
  (term.trigrams ??= (() => {
    const framed = `^${term.key}$`
    const found = new Set<number>()
    for (let i = 0; i + 3 <= framed.length; i++) {
      found.add(
        Math.imul(framed.charCodeAt(i), 0x9e3779b1) ^
          Math.imul(framed.charCodeAt(i + 1), 0x85ebca6b) ^
          Math.imul(framed.charCodeAt(i + 2), 0xc2b2ae35)
      )
    }
    const hashes = Int32Array.from(found).toSorted()
    const bits = hashes.reduce((all, hash) => all | (1 << (hash >>> 27)), 0)
    return { hashes, bits, shared: hashes.length - ones(bits) }
  })())

/** Bits that are 1 among 32. */
const ones = (bits: number): number => {
  const pairs = bits - ((bits >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** A bound that costs little: `similarity` of the two is never above it. */
export const similarityAtMost = (a: Term, b: Term): number => {
  const x = trigramsOf(a)
  const y = trigramsOf(b)
  return (2 * (ones(x.bits & y.bits) + x.shared)) / (x.hashes.length + y.hashes.length || 1)
}

/** Dice coefficient of the trigrams of two words' stems, framed by their borders: 0 nothing, 1 everything in common. */
export const similarity = (a: Term, b: Term): number => {
  if (a === b) return 1
  const x = trigramsOf(a).hashes
  const y = trigramsOf(b).hashes
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
