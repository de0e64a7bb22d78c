/** What is known of words, found by where a word stands in a text: it need not be cut out to be looked up. */

const CAPITAL_A = 0x41
const LETTERS = 26
const TO_LOWER = 0x20

const FNV_PRIME = 0x01000193

/** The hash of no letter. */
export const NO_LETTER = 0x811c9dc5 | 0

/** Capitals of ASCII as small letters; what else is a capital its text must have made small. */
const lower = (unit: number): number => ((unit - CAPITAL_A) >>> 0 < LETTERS ? unit | TO_LOWER : unit)

/** The hash of what `hash` is of and one UTF-16 code unit more. */
export const hashed = (hash: number, unit: number): number => Math.imul(hash ^ lower(unit), FNV_PRIME)

const SLOTS = 4096

/** Grows as it is filled; slots are a hash and a place, from 1. */
export const makeWordTable = <A>() => {
  let slots = new Int32Array(2 * SLOTS)
  let words: Array<string> = []
  let values: Array<A> = []

  /** The slot where a word of that hash is looked for first. */
  const home = (hash: number): number => ((hash ^ (hash >>> 15)) & (slots.length / 2 - 1)) * 2

  const put = (hash: number, place: number): void => {
    let at = home(hash)
    while (slots[at + 1] !== 0) at = at + 2 === slots.length ? 0 : at + 2
    slots[at] = hash
    slots[at + 1] = place
  }

  /** What is known of `text.slice(start, end)` in small letters, whose hash that is. */
  const get = (text: string, start: number, end: number, hash: number): A | undefined => {
    for (let at = home(hash); ; at = at + 2 === slots.length ? 0 : at + 2) {
      const place = slots[at + 1] as number
      if (place === 0) return undefined
      if (slots[at] === hash && isAt(words[place - 1] as string, text, start, end)) return values[place - 1]
    }
  }

  const set = (word: string, hash: number, value: A): void => {
    words.push(word)
    values.push(value)
    if (words.length * 4 > slots.length) {
      const before = slots
      slots = new Int32Array(2 * before.length)
      for (let at = 0; at < before.length; at += 2) {
        if (before[at + 1] !== 0) put(before[at] as number, before[at + 1] as number)
      }
    }
    put(hash, words.length)
  }

  const clear = (): void => {
    slots = new Int32Array(2 * SLOTS)
    words = []
    values = []
  }

  return { get, set, clear, size: (): number => words.length }
}

/** Whether a word in small letters is what stands in a text between two places. */
const isAt = (word: string, text: string, start: number, end: number): boolean => {
  if (word.length !== end - start) return false
  for (let i = 0; i < word.length; i++) {
    if (word.charCodeAt(i) !== lower(text.charCodeAt(start + i))) return false
  }
  return true
}
