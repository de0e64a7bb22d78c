/** Chance that can be repeated: the same words and seed give the same numbers, in every process. */
import { createHash } from "node:crypto"

/** A sequence of numbers that look random. */
export interface Random {
  /** The next number, from `low` to below `high`. */
  readonly between: (low: number, high: number) => number
  /** One of them, each as likely. */
  readonly pick: <A>(choices: readonly [A, ...ReadonlyArray<A>]) => A
}

/** The sequence that belongs to these words and this seed. */
export const randomOf = (words: string, seed: number): Random => {
  const start = createHash("sha256").update(`${seed}\n${words}`).digest().readUInt32LE(0)
  let state = start
  // A counter, mixed until each of its bits moves all the others.
  const next = (): number => {
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
  const between = (low: number, high: number) => low + next() * (high - low)
  return {
    between,
    pick: (choices) => choices[Math.floor(next() * choices.length)] ?? choices[0]
  }
}
