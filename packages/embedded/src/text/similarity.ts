/** How much two words look alike. */
import type { Like, Term } from "./Term.ts"

const trigramsOf = (term: Term): Int32Array =>
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
    return Int32Array.from(found).toSorted()
  })())

const dice = (common: number, a: Int32Array, b: Int32Array): number =>
  (2 * common) / (a.length + b.length || 1)

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
  return dice(common, x, y)
}

/** Calls of `likesOf` so far: what a term remembers is of the call whose number it has. */
let calls = 0

/** Of a hash's 32 bits, so many say where it is marked. */
const MARK_BITS = 12

/**
 * Finds which of some words another one looks like: those whose `similarity` with it is at least `least`, above 0.
 *
 * **Details.** The other's trigrams are looked up among the words', for nearly all have none in common with any. A term
 * remembers what was found until the next call of `likesOf`. Undefined is none.
 */
export const likesOf = (words: ReadonlyArray<Term>, least: number) => {
  const call = ++calls
  const places = new Map<number, Array<number>>()
  const marked = new Uint8Array(1 << MARK_BITS)
  words.forEach((word, place) => {
    if (word.kind !== "word") return
    for (const trigram of trigramsOf(word)) {
      marked[trigram >>> (32 - MARK_BITS)] = 1
      const there = places.get(trigram)
      if (there === undefined) places.set(trigram, [place])
      else there.push(place)
    }
  })

  const find = (other: Term): ReadonlyArray<Like> | undefined => {
    const trigrams = trigramsOf(other)
    let common: Map<number, number> | undefined
    for (let i = 0; i < trigrams.length; i++) {
      const trigram = trigrams[i] as number
      const there = marked[trigram >>> (32 - MARK_BITS)] === 1 ? places.get(trigram) : undefined
      if (there === undefined) continue
      common ??= new Map()
      for (const place of there) common.set(place, (common.get(place) ?? 0) + 1)
    }
    if (common === undefined) return undefined
    const likes = [...common]
      .map(([place, count]) => ({ place, value: dice(count, trigramsOf(words[place] as Term), trigrams) }))
      .filter(({ value }) => value >= least)
    return likes.length === 0 ? undefined : likes
  }

  return (other: Term): ReadonlyArray<Like> | undefined => {
    if (other.asked !== call) {
      other.asked = call
      other.likes = find(other)
    }
    return other.likes
  }
}
