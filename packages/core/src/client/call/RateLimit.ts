/** Keeps a client below the gateway's limit of calls: an opt-in layer before its attempts. */
import { Duration, Effect, Layer } from "effect"
import { RateLimiter } from "effect/persistence"
import { RateLimited } from "../../contract/GatewayError.ts"
import type { AttemptFailure } from "../transport/CallResult.ts"
import { type AttemptMiddleware, RateLimitMiddleware } from "./CallInfo.ts"

export interface RateLimitOptions {
  /** Attempts within `window`, at most; as many may be made at once. */
  readonly limit: number
  /** A minute when not given. */
  readonly window?: Duration.Input
  /** What shares the limit: `"gateway"` (when not given) all calls, `"model"` those of one model. */
  readonly by?: "gateway" | "model"
  /** What an attempt beyond the limit does: `"wait"` (when not given) for its turn, or `"fail"` with `RateLimited`. */
  readonly beyond?: "wait" | "fail"
}

const WINDOW: Duration.Input = "1 minute"

/** Not made, and retryable: the retry policy waits as long as it takes, if its budget allows. */
const beyondLimit = ({ reason }: RateLimiter.RateLimiterError): AttemptFailure => ({
  reason: new RateLimited({
    message: "This client has made as many calls as it allows itself (rate limit).",
    retryAfter: reason._tag === "RateLimitExceeded" ? reason.retryAfter : undefined
  }),
  requestId: undefined,
  notExecuted: true,
  local: true
})

/**
 * A limit of attempts for the clients that are given this layer: a bucket of `limit` that refills over `window`.
 *
 * **Details.** Every attempt takes its turn, retries too. The time that it waits counts for `callTimeout`, not for
 * `attemptTimeout`.
 *
 * **Gotchas.** Clients share the limit only if they are built with one layer value. State lives in the process. An
 * attempt that is interrupted while it waits has used up its turn.
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
            window: options.window ?? WINDOW,
            limit: options.limit,
            key: (options.by === "model" && model) || "gateway"
          })
          .pipe(
            Effect.mapError(beyondLimit),
            Effect.flatMap(({ delay }) => (Duration.isZero(delay) ? attempt : Effect.delay(attempt, delay)))
          )
      return middleware
    })
  ).pipe(Layer.provide(RateLimiter.layerStoreMemory))
