/** A sample that is the same every time. */
import { createHash } from "node:crypto"

const SEED = "sluice"

/** `count` of the values, chosen by the hash of their keys: of two overlapping lists the choice overlaps too. */
export const sampleBy = <A>(
  values: ReadonlyArray<A>,
  count: number,
  key: (value: A) => string
): ReadonlyArray<A> => {
  if (values.length <= count) return values
  const hash = (value: A) => createHash("sha256").update(SEED).update(key(value)).digest("hex")
  return values
    .map((value) => ({ value, hash: hash(value) }))
    .toSorted((a, b) => (a.hash < b.hash ? -1 : 1))
    .slice(0, count)
    .map(({ value }) => value)
}
