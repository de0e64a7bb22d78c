/** Runs the attempts of a call: retries, time-outs, redaction, telemetry. */
import { Clock, Context, Duration, Effect, type Redacted } from "effect"
import {
  GatewayError,
  UNKNOWN_OUTCOME_NOTICE,
  UNKNOWN_OUTCOME_REASONS,
  asSentence,
  TimedOut
} from "../../contract/GatewayError.ts"
import { CurrentRetryPolicy, RETRY, type RetryPolicy, retrySchedule } from "../../gateway/RetryPolicy.ts"
import type { AttemptFailure, CallResult } from "../transport/CallResult.ts"
import { IdempotencyKey, type RequestHeaders } from "../transport/Outgoing.ts"
import type { Attempt, AttemptMiddleware, CallInfo } from "./CallInfo.ts"
import { redactResult, makeRedact, redactReason } from "./Redact.ts"
import { observe } from "./Telemetry.ts"
import { withTimeout } from "./Timeout.ts"

export type { CallInfo } from "./CallInfo.ts"

export interface CallOptions {
  /** Default: `RETRY`. `withRetryPolicy` overrides it for single calls. */
  readonly retry?: RetryPolicy | undefined
  /**
   * Limit of one attempt, from its start to its complete response. Waiting for a free connection counts. For a stream:
   * to the response's head, then between two chunks. Default: 60 seconds; 10 minutes for chat and new images.
   */
  readonly attemptTimeout?: Duration.Input | undefined
  /**
   * Limit of the whole call, with all attempts and delays. For a stream: to the response's head, then between two
   * events. `"Infinity"` for none. Default: 3 minutes; 10 minutes for chat and new images.
   */
  readonly callTimeout?: Duration.Input | undefined
  /** Limit between two chunks of a chat stream, in place of both time-outs. Keep-alive comments count as chunks. */
  readonly idleTimeout?: Duration.Input | undefined
  /** Headers of every request to the gateway. Their values are redacted like the credential. */
  readonly headers?: RequestHeaders | undefined
  /** Other texts that the transport sends and that are redacted like the credential, if they have 16 characters or more. */
  readonly secrets?: ReadonlyArray<string> | undefined
  /**
   * The gateway executes requests with the same `Idempotency-Key` once, so creations are retried like reads. Default:
   * false, because the interface does not define the header.
   */
  readonly honoursIdempotencyKey?: boolean | undefined
  /**
   * Sends the span of each call as `traceparent` (W3C), so that the gateway's spans continue the program's trace. Default:
   * false, because the gateway is a third party. Other hosts, such as those of image links, never get it.
   */
  readonly traceparent?: boolean | undefined
}

/** Long answers and images take minutes. An abandoned one is still charged. */
const GENERATION_TIMEOUT = Duration.minutes(10)

/** The options of calls that generate: ten minutes, unless the program sets time-outs. */
export const generationOptions = <Options extends CallOptions>(options: Options): Options => ({
  ...options,
  attemptTimeout: options.attemptTimeout ?? GENERATION_TIMEOUT,
  callTimeout: options.callTimeout ?? GENERATION_TIMEOUT
})

/** The text to append to the message of a failure with unknown outcome. A gateway built on this client has added it. */
const outcomeNotice = (message: string): string =>
  message.includes(UNKNOWN_OUTCOME_NOTICE)
    ? ""
    : `${asSentence(message).slice(message.length)} ${UNKNOWN_OUTCOME_NOTICE}`

/** Longer request ids are cut: some gateways send other text in this header. */
const REQUEST_ID_LENGTH = 128

/** Runs attempts as calls. */
export interface Caller {
  readonly call: <A>(info: CallInfo, attempt: Attempt<A>) => Effect.Effect<A, GatewayError>
  /** `call`, with the request id and the metadata. */
  readonly callWithResult: <A>(
    info: CallInfo,
    attempt: Attempt<A>
  ) => Effect.Effect<CallResult<A>, GatewayError>
  /** The error of a failure, without the credential. */
  readonly fail: (info: CallInfo, failure: AttemptFailure, attempt?: number) => GatewayError
  readonly attemptTimeout: Duration.Duration
  readonly callTimeout: Duration.Duration
}

const makeFail =
  (redact: (text: string) => string): Caller["fail"] =>
  ({ model, operation, repeat }, { notExecuted, reason, requestId, response }, attempt) => {
    const outcomeUnknown =
      repeat === "creations" && notExecuted !== true && UNKNOWN_OUTCOME_REASONS.has(reason._tag)
    return new GatewayError({
      operation,
      model,
      requestId: requestId && redact(requestId).slice(0, REQUEST_ID_LENGTH),
      attempt,
      notExecuted,
      ...(outcomeUnknown && { outcomeUnknown }),
      // Only calls of a model are charged. Other responses may have credentials.
      ...(model !== undefined && response !== undefined && { response: redact(response) }),
      reason: redactReason(reason, redact, outcomeUnknown ? outcomeNotice(reason.message) : "")
    })
  }

const timedOut = (scope: "attempt" | "call", after: Duration.Duration): AttemptFailure => {
  const message = `No complete response within ${Duration.format(after)} (\`${scope}Timeout\`).`
  return { reason: new TimedOut({ message, scope, after }) }
}

/** The attempts of one call so far. */
interface CallState {
  attempts: number
  /** An attempt failed and may have been executed. */
  mayBeExecuted: boolean
  /** An attempt is running: not waiting for middleware or for a retry. */
  isRunning: boolean
}

/** Retries an attempt whose first failure is known. The schedule is used only then, because it costs more than a call. */
const makeRetry = (options: CallOptions, callTimeout: Duration.Duration) => {
  const policy = options.retry ?? RETRY
  const scheduleOf = (policy: RetryPolicy) => {
    // A delay beyond the call's time-out would replace the real failure by a time-out.
    const budget = Duration.min(Duration.fromInputUnsafe(policy.budget), callTimeout)
    // `mayRepeat` decides about creations.
    return retrySchedule({ ...policy, budget }, ({ reason }) => reason.isRetryable)
  }
  const schedule = scheduleOf(policy)
  const mayRepeat = ({ repeat }: CallInfo, { notExecuted, reason }: GatewayError): boolean => {
    if (repeat === "creations") return notExecuted === true || options.honoursIdempotencyKey === true
    return repeat === "paid" ? reason._tag !== "TimedOut" : repeat !== "never"
  }

  return <A>(once: Effect.Effect<A, GatewayError>, info: CallInfo, first: GatewayError) =>
    Effect.flatMap(CurrentRetryPolicy, (override) => {
      if (!mayRepeat(info, first)) return Effect.fail(first)
      let pending: GatewayError | undefined = first
      const next = Effect.suspend(() => {
        const error = pending
        pending = undefined
        return error === undefined ? once : Effect.fail(error)
      })
      return Effect.retry(next, {
        schedule: override === undefined ? schedule : scheduleOf({ ...policy, ...override }),
        while: (error) => mayRepeat(info, error)
      })
    })
}

/** Runs calls with one set of options. Middleware wraps each attempt, the first outermost. */
export const makeCaller = (
  options: CallOptions,
  credential: Redacted.Redacted,
  middleware: ReadonlyArray<AttemptMiddleware> = []
): Caller => {
  const attemptTimeout = Duration.fromInputUnsafe(options.attemptTimeout ?? "60 seconds")
  const callTimeout = Duration.fromInputUnsafe(options.callTimeout ?? "3 minutes")
  const redact = makeRedact(credential, ...Object.values(options.headers ?? {}), ...(options.secrets ?? []))
  const fail = makeFail(redact)

  const retry = makeRetry(options, callTimeout)
  /** The first attempt ends before the call's time-out, which then needs no timer of its own. */
  const isBounded = middleware.length === 0 && Duration.isLessThanOrEqualTo(attemptTimeout, callTimeout)

  /** One attempt with its time-out and its middleware. */
  const attemptOnce = <A>(
    info: CallInfo,
    attempt: Attempt<A>,
    state: CallState,
    failed: (failure: AttemptFailure) => GatewayError
  ) => {
    const started = Effect.suspend(() => {
      state.attempts++
      state.isRunning = true
      return attempt
    })
    const timed = withTimeout(started, attemptTimeout, () => timedOut("attempt", attemptTimeout))
    const wrapped = middleware.reduceRight((inner, wrap) => wrap(inner, info), timed)
    return Effect.mapError(wrapped, (failure) => {
      state.isRunning = false
      return failed(failure)
    })
  }

  const callWithResult: Caller["callWithResult"] = (info, attempt) =>
    Effect.contextWith((context: Context.Context<never>) => {
      const state: CallState = { attempts: 0, mayBeExecuted: false, isRunning: false }
      const failed = (failure: AttemptFailure) => {
        state.mayBeExecuted ||= failure.notExecuted !== true
        const notExecuted = !state.mayBeExecuted
        return fail(info, { ...failure, notExecuted }, state.attempts === 0 ? undefined : state.attempts)
      }
      const once = attemptOnce(info, attempt, state, failed)
      const limit = <A>(self: Effect.Effect<A, GatewayError>, duration: Duration.Duration) =>
        withTimeout(self, duration, () =>
          failed({ ...timedOut("call", callTimeout), notExecuted: !state.isRunning })
        )
      const clock = Context.get(context, Clock.Clock)
      const start = clock.currentTimeMillisUnsafe()
      const limited = isBounded
        ? once.pipe(
            Effect.catch((error) => {
              const elapsed = Duration.millis(clock.currentTimeMillisUnsafe() - start)
              return limit(retry(once, info, error), Duration.subtract(callTimeout, elapsed))
            })
          )
        : limit(once.pipe(Effect.catch((error) => retry(once, info, error))), callTimeout)
      const redacted = Effect.map(limited, (result) => redactResult(result, redact))
      const observed = observe(redacted, info, () => state.attempts, options.traceparent === true)
      const given = Context.get(context, IdempotencyKey)
      const key = info.repeat === "creations" ? (given ?? crypto.randomUUID()) : undefined
      return key === given ? observed : Effect.provideService(observed, IdempotencyKey, key)
    })

  const call: Caller["call"] = (info, attempt) =>
    Effect.map(callWithResult(info, attempt), ({ value }) => value)
  return { fail, attemptTimeout, callTimeout, call, callWithResult }
}

/** Treats `NotFound` after a failed attempt of a removal as success: the failed attempt may have removed the record. */
export const ignoreRepeatedNotFound = <A>(
  removal: Effect.Effect<A, GatewayError>
): Effect.Effect<void, GatewayError> =>
  removal.pipe(
    Effect.asVoid,
    Effect.catchIf(
      ({ attempt = 1, reason }) => reason._tag === "NotFound" && attempt > 1,
      () => Effect.void
    )
  )
