/** Pseudo-random numbers: the same text and seed give the same numbers in every process. */
import { createHash } from "node:crypto"

export interface Random {
  /** The next number, from `low` to below `high`. */
  readonly between: (low: number, high: number) => number
  /** One of the choices, all equally likely. */
  readonly pick: <A>(choices: readonly [A, ...ReadonlyArray<A>]) => A
}

export const randomOf = (text: string, seed: number): Random => {
  const start = createHash("sha256").update(`${seed}\n${text}`).digest().readUInt32LE(0)
  let state = start
  // A hashed counter: every bit of the state affects all bits of the result.
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
