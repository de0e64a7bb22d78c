/** Limits a client's rate of calls: an optional layer for clients. */
import { Duration, Effect, Layer } from "effect"
import { RateLimiter } from "effect/persistence"
import { RateLimited } from "../../contract/GatewayError.ts"
import type { AttemptFailure } from "../transport/CallResult.ts"
import { type AttemptMiddleware, RateLimitMiddleware } from "./CallInfo.ts"

export interface RateLimitOptions {
  /** The most attempts within `window`. They may all be made at once. */
  readonly limit: number
  /** Default: 1 minute. */
  readonly window?: Duration.Input | undefined
  /** `"gateway"` has one limit for all calls, `"model"` one for each model. Default: `"gateway"`. */
  readonly by?: "gateway" | "model" | undefined
  /** What an attempt beyond the limit does: wait, or fail with `RateLimited`. Default: `"wait"`. */
  readonly beyond?: "wait" | "fail" | undefined
}

/** Not executed and retryable: the retry policy waits for `retryAfter`, if its budget allows. */
const limitExceeded = ({ reason }: RateLimiter.RateLimiterError): AttemptFailure => ({
  reason: new RateLimited({
    message: "The client has reached its own rate limit.",
    retryAfter: reason._tag === "RateLimitExceeded" ? reason.retryAfter : undefined
  }),
  notExecuted: true,
  local: true
})

/**
 * A rate limit for the clients built with this layer: a token bucket of `limit` that refills over `window`.
 *
 * **Details.** Every attempt uses a token, including retries. Waiting counts for `callTimeout`, not for `attemptTimeout`.
 *
 * **Gotchas.** Clients share the limit only if they are built with the same layer value. The state is in memory. An
 * attempt that is interrupted while it waits has used its token.
 *
 * ```ts
 * GatewayClient.layer(options).pipe(Layer.provide(layerRateLimit({ limit: 60 })))
 * ```
 */
export const layerRateLimit = (options: RateLimitOptions): Layer.Layer<never> =>
  Layer.effect(
    RateLimitMiddleware,
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.make
      const middleware: AttemptMiddleware = (attempt, { model }) =>
        limiter
          .consume({
            algorithm: "token-bucket",
            onExceeded: options.beyond === "fail" ? "fail" : "delay",
            window: options.window ?? "1 minute",
            limit: options.limit,
            key: (options.by === "model" && model) || "gateway"
          })
          .pipe(
            Effect.mapError(limitExceeded),
            Effect.flatMap(({ delay }) => (Duration.isZero(delay) ? attempt : Effect.delay(attempt, delay)))
          )
      return middleware
    })
  ).pipe(Layer.provide(RateLimiter.layerStoreMemory))
