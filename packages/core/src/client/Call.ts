/** A whole call: attempts with their time-out, the waits between them, and the time-out of it all. */
import { Duration, Effect, Redacted } from "effect"
import { GatewayError, type GatewayReason, TimedOut } from "../GatewayError.ts"
import { RETRY, type RetryPolicy, retrySchedule } from "../RetryPolicy.ts"
import type { Answer, Problem } from "./Exchange.ts"

export interface CallOptions {
  /** `RETRY` when not given. */
  readonly retry?: RetryPolicy
  /** From the start of an attempt to its whole answer; of a stream, to its head and then from byte to byte. */
  readonly attemptTimeout?: Duration.Input
  /** From the start of a call to its end, attempts and waits together; of a stream, to its head and then from event to event. */
  readonly callTimeout?: Duration.Input
}

/** Long enough for a full batch of embeddings, or a long answer. */
export const ATTEMPT_TIMEOUT: Duration.Input = "60 seconds"
export const CALL_TIMEOUT: Duration.Input = "3 minutes"

/** What a call is about, for its errors and spans. */
export interface About {
  readonly operation: string
  readonly model?: string
  /**
   * Whether a failed attempt may be made again. `reads` (the default) by the retry policy; `creations` only where the
   * first surely did not happen: no byte of it was sent, or it was answered 429; `never` for what takes effect each time.
   */
  readonly repeat?: "reads" | "creations" | "never"
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
  readonly callTimeout: Duration.Duration
}

export const makeCaller = (options: CallOptions, credential: Redacted.Redacted): Caller => {
  const attemptTimeout = Duration.fromInputUnsafe(options.attemptTimeout ?? ATTEMPT_TIMEOUT)
  const callTimeout = Duration.fromInputUnsafe(options.callTimeout ?? CALL_TIMEOUT)
  const policy = options.retry ?? RETRY
  // A wait that the call does not outlast would only hide why it has to wait.
  const budget = Duration.min(Duration.fromInputUnsafe(policy.budget), callTimeout)
  const schedule = retrySchedule({ ...policy, budget })
  const conceal = concealer(Redacted.value(credential))

  const fail = ({ operation, model }: About, { reason, requestId }: Problem) =>
    new GatewayError({
      operation,
      model,
      requestId: requestId && conceal(requestId),
      reason: concealIn(reason, conceal)
    })

  const timedOut = (scope: "attempt" | "call", after: Duration.Duration) => {
    const message = `No whole answer within ${Duration.format(after)} (\`${scope}Timeout\`).`
    return Effect.fail<Problem>({ reason: new TimedOut({ message, scope, after }), requestId: undefined })
  }

  return {
    fail,
    attemptTimeout,
    callTimeout,
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

/** A shorter beginning is found in every other word, and betrays nothing. */
const BETRAYING = 8

/** Some gateways repeat the credential in their refusal, and a message that is cut may end within it. */
const concealer = (secret: string) => {
  const head = secret.slice(0, BETRAYING)
  return (text: string): string => {
    if (head.length < BETRAYING) return text
    let shown = ""
    let from = 0
    for (let at = text.indexOf(head); at !== -1; at = text.indexOf(head, from)) {
      let length = head.length
      while (length < secret.length && text[at + length] === secret[length]) length++
      shown += `${text.slice(from, at)}<redacted>`
      from = at + length
    }
    return shown + text.slice(from)
  }
}

/** The reason with nothing of the credential in any of its texts. */
const concealIn = (reason: GatewayReason, conceal: (text: string) => string): GatewayReason => {
  const fields = Object.entries({ ...reason, message: reason.message })
  const Reason = reason.constructor as new (fields: object) => GatewayReason
  return new Reason(
    Object.fromEntries(
      fields.map(([name, value]) => [
        name,
        typeof value === "string" && name !== "_tag" ? conceal(value) : value
      ])
    )
  )
}
