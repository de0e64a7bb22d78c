/** A long trial: the same code runs a few seeded rounds in `npm test` and its full count in `npm run -s torture`. */
import type { Random } from "../../bench/Random.ts"

/** One round. It throws when a law does not hold; everything it does follows from `random`. */
export type Trial = (random: Random) => Promise<void>

/** Fails the round with what was expected. */
export function must(holds: boolean, law: () => string): asserts holds {
  if (!holds) throw new Error(law())
}
