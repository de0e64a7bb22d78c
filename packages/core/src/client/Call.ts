/** A whole call: attempts with their time-out, the waits between them, and the time-out of it all. */
import { Duration, Effect, Redacted } from "effect"
import { GatewayError, type GatewayReason, TimedOut } from "../GatewayError.ts"
import { RETRY, type RetryPolicy, retrySchedule } from "../RetryPolicy.ts"
import type { Answer, Problem } from "./Exchange.ts"

export interface CallOptions {
  /** `RETRY` when not given. */
  readonly retry?: RetryPolicy
  /** From the start of an attempt to its whole answer; of a stream, to its head and then from part to part. */
  readonly attemptTimeout?: Duration.Input
  /** From the start of a call to its end, attempts and waits together; of a stream, to its head. */
  readonly callTimeout?: Duration.Input
}

/** Long enough for a full batch of embeddings, or a long answer. */
export const ATTEMPT_TIMEOUT: Duration.Input = "60 seconds"
export const CALL_TIMEOUT: Duration.Input = "3 minutes"

/** What a call is about, for its errors and spans. */
export interface About {
  readonly operation: string
  readonly model?: string
}

/** Runs attempts as calls. */
export interface Caller {
  readonly call: <A>(
    about: About,
    attempt: Effect.Effect<Answer<A>, Problem>
  ) => Effect.Effect<Answer<A>, GatewayError>
  /** The error of a reason. No credential is in it, whatever the gateway echoed. */
  readonly fail: (about: About, problem: Problem) => GatewayError
  readonly attemptTimeout: Duration.Duration
}

export const makeCaller = (options: CallOptions, credential: Redacted.Redacted): Caller => {
  const attemptTimeout = Duration.fromInputUnsafe(options.attemptTimeout ?? ATTEMPT_TIMEOUT)
  const callTimeout = Duration.fromInputUnsafe(options.callTimeout ?? CALL_TIMEOUT)
  const schedule = retrySchedule(options.retry ?? RETRY)
  const secret = Redacted.value(credential)

  const fail = ({ operation, model }: About, { reason, requestId }: Problem) =>
    new GatewayError({ operation, model, requestId, reason: conceal(reason, secret) })

  const timedOut = (scope: "attempt" | "call", after: Duration.Duration) => {
    const message = `No whole answer within ${Duration.format(after)} (\`${scope}Timeout\`).`
    return Effect.fail<Problem>({ reason: new TimedOut({ message, scope, after }), requestId: undefined })
  }

  return {
    fail,
    attemptTimeout,
    call: (about, attempt) =>
      attempt.pipe(
        Effect.timeoutOrElse({ duration: attemptTimeout, orElse: () => timedOut("attempt", attemptTimeout) }),
        Effect.mapError((problem) => fail(about, problem)),
        Effect.retry(schedule),
        Effect.timeoutOrElse({
          duration: callTimeout,
          orElse: () => Effect.mapError(timedOut("call", callTimeout), (problem) => fail(about, problem))
        })
      )
  }
}

/** A shorter credential is found in every other word, and protects nothing. */
const SHORTEST_SECRET = 6

/** Some gateways repeat the credential in their refusal. */
const conceal = (reason: GatewayReason, secret: string): GatewayReason => {
  if (secret.length < SHORTEST_SECRET || !reason.message.includes(secret)) return reason
  const Reason = reason.constructor as new (fields: object) => GatewayReason
  return new Reason({ ...reason, message: reason.message.replaceAll(secret, "<redacted>") })
}
