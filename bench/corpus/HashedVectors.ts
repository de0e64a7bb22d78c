/** Deterministic vectors from hashed words, cheap enough not to dominate a benchmark. */

export const DIMENSION = 384

const slots = new Map<string, number>()

/** The dimension and sign of a word, from its FNV-1a hash. */
const slotOf = (word: string): number => {
  const known = slots.get(word)
  if (known !== undefined) return known
  let hash = 2166136261
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 16777619)
  const slot = ((hash >>> 1) % DIMENSION) * 2 + (hash & 1)
  slots.set(word, slot)
  return slot
}

export const wordsOf = (text: string): ReadonlyArray<string> => text.toLowerCase().match(/\w+/g) ?? []

/** Ignores words of up to three letters. Returns a unit vector. */
export const vectorOf = (text: string): Float32Array => {
  const vector = new Float32Array(DIMENSION)
  for (const word of wordsOf(text)) {
    if (word.length < 4) continue
    const slot = slotOf(word)
    vector[slot >> 1]! += slot & 1 ? 1 : -1
  }
  let squares = 0
  for (const value of vector) squares += value * value
  if (squares === 0) vector[0] = squares = 1
  const norm = Math.sqrt(squares)
  return vector.map((value) => value / norm)
}
