/** One key for all attempts of one creation, so that a gateway that knows it makes the thing once. */
import { Context, Effect } from "effect"

/** The `Idempotency-Key` of the call under way; undefined outside a creation, unless the program set one. */
export const IdempotencyKey = Context.Reference<string | undefined>("@sluice/core/IdempotencyKey", {
  defaultValue: () => undefined
})

/**
 * Gives the creations of an effect this key instead of a random one.
 *
 * **When to use.** To make the same creation again after a crash, with a key that was written down before it.
 *
 * **Gotchas.** All creations within share the key: wrap one. The interface knows no such header; a gateway that does
 * not honour it ignores it.
 */
export const withIdempotencyKey =
  (key: string) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.provideService(self, IdempotencyKey, key)
