/** A long trial. `npm test` runs a few seeded rounds of it, `npm run -s torture` the full count. */
import type { Random } from "../../bench/corpus/Random.ts"

/** One round, determined by `random`. Throws if an invariant does not hold. */
export type Trial = (random: Random) => Promise<void>

/** Fails the round with a message. */
export function must(holds: boolean, law: () => string): asserts holds {
  if (!holds) throw new Error(law())
}
