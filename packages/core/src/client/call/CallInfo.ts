/** What describes a call to errors, spans and retries, and the middleware around its attempts. */
import { Context, Effect } from "effect"
import type { AttemptFailure, CallResult } from "../transport/CallResult.ts"

/** Describes a call. */
export interface CallInfo {
  readonly operation: string
  readonly model?: string
  /**
   * Whether a failed attempt is repeated. `reads` (the default): by the retry policy. `creations`: only if the attempt was
   * not executed, because nothing was sent or the response was 429. `paid`: as `reads`, but not after a time-out, because
   * the gateway goes on and charges for it. `never`: not at all.
   */
  readonly repeat?: "reads" | "paid" | "creations" | "never"
  /** More attributes of the call's span, such as `gen_ai.request.max_tokens`. No prompts. */
  readonly request?: Readonly<Record<string, unknown>>
}

export type Attempt<A> = Effect.Effect<CallResult<A>, AttemptFailure>

/** Wraps each attempt: delays it, or refuses it. A delay counts for the call's time-out, not for the attempt's. */
export type AttemptMiddleware = <A>(attempt: Attempt<A>, info: CallInfo) => Attempt<A>

/** The middleware of `layerCircuitBreaker`. */
export const BreakerMiddleware = Context.Reference<AttemptMiddleware | undefined>(
  "@sluice/core/BreakerMiddleware",
  { defaultValue: () => undefined }
)

/** The middleware of `layerRateLimit`. */
export const RateLimitMiddleware = Context.Reference<AttemptMiddleware | undefined>(
  "@sluice/core/RateLimitMiddleware",
  { defaultValue: () => undefined }
)

/** The middleware in the current context. The breaker is outermost: an attempt it refuses uses no rate limit. */
export const currentMiddleware: Effect.Effect<ReadonlyArray<AttemptMiddleware>> = Effect.gen(function* () {
  return [yield* BreakerMiddleware, yield* RateLimitMiddleware].filter((wrap) => wrap !== undefined)
})
