/** A whole call: attempts with their time-out, the waits between them, and the time-out of it all. */
import { Clock, Context, Duration, Effect, Redacted } from "effect"
import { GatewayError, UNKNOWN_OUTCOME_REASONS, asSentence, TimedOut } from "../../contract/GatewayError.ts"
import { CurrentRetryPolicy, RETRY, type RetryPolicy, retrySchedule } from "../../gateway/RetryPolicy.ts"
import type { About } from "./About.ts"
import type { CallResult, Problem } from "../transport/Answer.ts"
import { redactAnswer, makeRedact, redactReason } from "./Redact.ts"
import type { Guard } from "./Guard.ts"
import { IdempotencyKey } from "../transport/Outgoing.ts"
import { observe } from "./Telemetry.ts"

export type { About } from "./About.ts"

export interface CallOptions {
  /** `RETRY` when not given; `withRetryPolicy` replaces it for single calls. */
  readonly retry?: RetryPolicy
  /**
   * From the start of an attempt, which may wait for one of the transport's connections, to its whole answer; of a
   * stream, to its head and then from byte to byte.
   */
  readonly attemptTimeout?: Duration.Input
  /** From the start of a call to its end, attempts and waits together; of a stream, to its head and then from event to event. */
  readonly callTimeout?: Duration.Input
  /** Of a chat's stream that has begun, from byte to byte, in place of both: comments alone keep it open for ever. */
  readonly idleTimeout?: Duration.Input
  /**
   * The gateway makes one thing for one `Idempotency-Key`, however often it is asked: creations are then repeated like
   * reads. False when not given: the interface does not know the header.
   */
  readonly honoursIdempotencyKey?: boolean
}

/** Long enough for a full batch of embeddings, or a long answer. */
export const ATTEMPT_TIMEOUT: Duration.Input = "60 seconds"
export const CALL_TIMEOUT: Duration.Input = "3 minutes"

const DOUBT = "It may have been made all the same, and paid for: look before you make it again."

/** What is said after a message: nothing where it says so itself, as another gateway's does that has it from here. */
const doubtAfter = (message: string): string =>
  message.includes(DOUBT) ? "" : `${asSentence(message).slice(message.length)} ${DOUBT}`

/** Some gateways put more than an identifier there. */
const REQUEST_ID_LENGTH = 128

/** Runs attempts as calls. */
export interface Caller {
  readonly call: <A>(
    about: About,
    attempt: Effect.Effect<CallResult<A>, Problem>
  ) => Effect.Effect<CallResult<A>, GatewayError>
  /** The error of a reason. No credential is in it, whatever the gateway echoed. */
  readonly fail: (about: About, problem: Problem, attempt?: number) => GatewayError
  readonly attemptTimeout: Duration.Duration
  readonly callTimeout: Duration.Duration
}

export const makeCaller = (
  options: CallOptions,
  credential: Redacted.Redacted,
  guards: ReadonlyArray<Guard> = []
): Caller => {
  const attemptTimeout = Duration.fromInputUnsafe(options.attemptTimeout ?? ATTEMPT_TIMEOUT)
  const callTimeout = Duration.fromInputUnsafe(options.callTimeout ?? CALL_TIMEOUT)
  const redact = makeRedact(Redacted.value(credential))

  const scheduleOf = (policy: RetryPolicy) => {
    // A wait that the call does not outlast would only hide why it has to wait.
    const budget = Duration.min(Duration.fromInputUnsafe(policy.budget), callTimeout)
    // `mayRepeat` has decided already what a creation in doubt may do.
    return retrySchedule({ ...policy, budget }, ({ reason }) => reason.isRetryable)
  }
  const policy = options.retry ?? RETRY
  const schedule = scheduleOf(policy)
  /** The first attempt ends before the whole call has to: until then one clock does for both. */
  const oneLimitFirst = guards.length === 0 && Duration.isLessThanOrEqualTo(attemptTimeout, callTimeout)

  const fail: Caller["fail"] = (
    { operation, model, repeat },
    { reason, requestId, notExecuted },
    attempt
  ) => {
    const outcomeUnknown =
      repeat === "creations" && notExecuted !== true && UNKNOWN_OUTCOME_REASONS.has(reason._tag)
    return new GatewayError({
      operation,
      model,
      requestId: requestId && redact(requestId).slice(0, REQUEST_ID_LENGTH),
      attempt,
      notExecuted,
      ...(outcomeUnknown && { outcomeUnknown }),
      reason: redactReason(reason, redact, outcomeUnknown ? doubtAfter(reason.message) : "")
    })
  }

  const mayRepeat = ({ repeat }: About, { notExecuted }: GatewayError): boolean =>
    repeat === "creations"
      ? notExecuted === true || options.honoursIdempotencyKey === true
      : repeat !== "never"

  const timedOut = (scope: "attempt" | "call", after: Duration.Duration) => {
    const message = `No whole answer within ${Duration.format(after)} (\`${scope}Timeout\`).`
    return Effect.fail<Problem>({ reason: new TimedOut({ message, scope, after }), requestId: undefined })
  }

  const call: Caller["call"] = <A>(about: About, attempt: Effect.Effect<CallResult<A>, Problem>) =>
    Effect.contextWith((context: Context.Context<never>) => {
      let attempts = 0
      let doubtful = false
      /** From the first step of an attempt to its end; not while it waits for its turn, or for the next one. */
      let underWay = false
      const failed = (problem: Problem) => {
        doubtful ||= problem.notExecuted !== true
        return fail(about, { ...problem, notExecuted: !doubtful }, attempts === 0 ? undefined : attempts)
      }
      const begun = Effect.suspend(() => {
        attempts++
        underWay = true
        return attempt
      })
      const timed = Effect.timeoutOrElse(begun, {
        duration: attemptTimeout,
        orElse: () => timedOut("attempt", attemptTimeout)
      })
      const guarded = guards.reduceRight((guarded, guard) => guard(guarded, about), timed)
      const once = Effect.mapError(guarded, (problem) => {
        underWay = false
        return failed(problem)
      })

      /** A schedule costs more than a call over it: most calls need none. */
      const again = (first: GatewayError) => {
        if (!mayRepeat(about, first)) return Effect.fail(first)
        const replaced = Context.get(context, CurrentRetryPolicy)
        let before: GatewayError | undefined = first
        return Effect.suspend(() => {
          const error = before
          before = undefined
          return error === undefined ? once : Effect.fail(error)
        }).pipe(
          Effect.retry({
            schedule: replaced === undefined ? schedule : scheduleOf({ ...policy, ...replaced }),
            while: (error) => mayRepeat(about, error)
          })
        )
      }

      const inTime = <A>(self: Effect.Effect<A, GatewayError>, left: Duration.Duration) =>
        Effect.timeoutOrElse(self, {
          duration: left,
          orElse: () =>
            Effect.mapError(timedOut("call", callTimeout), (problem) =>
              failed({ ...problem, notExecuted: !underWay })
            )
        })
      const clock = Context.get(context, Clock.Clock)
      const start = clock.monotonicTimeNanosUnsafe()
      const left = () =>
        Duration.max(
          Duration.subtract(callTimeout, Duration.nanos(clock.monotonicTimeNanosUnsafe() - start)),
          Duration.zero
        )
      const limited = oneLimitFirst
        ? once.pipe(Effect.catch((error) => inTime(again(error), left())))
        : inTime(once.pipe(Effect.catch(again)), callTimeout)
      const whole = limited.pipe(
        Effect.map((answer) => redactAnswer(answer, redact)),
        observe(about, () => attempts)
      )
      const given = Context.get(context, IdempotencyKey)
      const key = about.repeat === "creations" ? (given ?? crypto.randomUUID()) : undefined
      return key === given ? whole : Effect.provideService(whole, IdempotencyKey, key)
    })

  return { fail, attemptTimeout, callTimeout, call }
}
