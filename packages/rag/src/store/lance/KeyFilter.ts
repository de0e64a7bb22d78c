/** Which keys are surely not in a table, without asking it: a look-up by key reads all the keys there are. */

/** Two megabytes: among half a million keys, one in five thousand that are not there is thought to be. */
const BITS = 2 ** 24

/** Hexadecimal digits that name one of that many bits. */
const DIGITS = 6
const PROBES = 4

/** A Bloom filter over SHA-256 keys, hexadecimal: their own digits are its hash functions. */
export interface KeyFilter {
  readonly add: (key: string) => void
  /** False only of a key that was never added. */
  readonly mayHave: (key: string) => boolean
}

export const keyFilter = (): KeyFilter => {
  const bits = new Uint8Array(BITS / 8)
  const bit = (key: string, probe: number): number =>
    Number.parseInt(key.slice(probe * DIGITS, (probe + 1) * DIGITS), 16)
  return {
    add: (key) => {
      for (let probe = 0; probe < PROBES; probe++) {
        const at = bit(key, probe)
        bits[at >> 3]! |= 1 << (at & 7)
      }
    },
    mayHave: (key) => {
      for (let probe = 0; probe < PROBES; probe++) {
        const at = bit(key, probe)
        if ((bits[at >> 3]! & (1 << (at & 7))) === 0) return false
      }
      return true
    }
  }
}
