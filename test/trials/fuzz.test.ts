/** Seeded rounds of the fuzzer. `npm run -s torture -- --only fuzz` runs the full count. */
import { expect, it } from "vitest"
import { seeded } from "../../bench/corpus/Random.ts"
import { endpoints } from "../fuzz/Endpoints.ts"
import { type Counts, siege } from "../fuzz/fuzz.ts"

const ROUNDS = 2

it("answers every request with a valid success or an error of the one shape", async () => {
  const counts: Counts = new Map()
  for (let seed = 1; seed <= ROUNDS; seed++) {
    await siege(seeded(seed), counts).catch((cause: unknown) => {
      throw new Error(`seed ${seed}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    })
  }
  const told = endpoints.map(({ files, name, payload }) => ({
    name,
    takesBody: files || payload !== undefined,
    ...(counts.get(name) ?? { refused: 0, succeeded: 0 })
  }))
  const names = (some: typeof told) => some.map(({ name }) => name)
  expect(names(told.filter(({ refused, succeeded }) => refused + succeeded === 0))).toEqual([])
  const bodies = told.filter(({ takesBody }) => takesBody)
  expect(names(bodies.filter(({ refused }) => refused === 0))).toEqual([])
  // Without successes, only the first check of each endpoint would have been tested.
  expect(names(bodies.filter(({ succeeded }) => succeeded > 0)).length).toBeGreaterThan(bodies.length / 2)
}, 300_000)
