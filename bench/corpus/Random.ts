/** A seeded generator (mulberry32): the same seed gives the same numbers on every machine. */
export interface Random {
  /** Uniform in [0, 1). */
  readonly next: () => number
  /** Uniform integer in [from, to], both included. */
  readonly between: (from: number, to: number) => number
  readonly pick: <A>(from: readonly [A, ...ReadonlyArray<A>]) => A
}

export const seeded = (seed: number): Random => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    next,
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    pick: (from) => from[Math.floor(next() * from.length)] ?? from[0]
  }
}
