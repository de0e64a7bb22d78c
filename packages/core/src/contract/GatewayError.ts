/**
 * One error for every call of the gateway, and the reasons it can have.
 *
 * Catch it whole by its tag, or one reason at a time:
 *
 * ```ts
 * program.pipe(Effect.catchReason("GatewayError", "RateLimited", (reason) => Effect.sleep(reason.retryAfter ?? "1 second")))
 * ```
 */
import { Duration, Schema } from "effect"

/** The request itself is wrong (400, 409, 413, 415, 422, or refused before it was sent). Sending it again changes nothing. */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()("InvalidRequest", {
  message: Schema.String,
  /** The field at fault, as the gateway names it. */
  param: Schema.optional(Schema.String),
  code: Schema.optional(Schema.String),
  /** The status that refused it, where it is another than 400. */
  status: Schema.optional(Schema.Int)
}) {
  readonly isRetryable = false
}

/** The credential is missing, wrong, disabled or expired (401). */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", {
  message: Schema.String
}) {
  readonly isRetryable = false
}

/** The credential is good, what it asks for is not allowed (403). */
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", {
  message: Schema.String,
  code: Schema.optional(Schema.String)
}) {
  readonly isRetryable = false
}

/** The balance of the user or of the key does not cover the call (402, or 403 with a quota code). */
export class InsufficientQuota extends Schema.TaggedError<InsufficientQuota>()("InsufficientQuota", {
  message: Schema.String
}) {
  readonly isRetryable = false
}

/** No such model, task or record (404). */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", {
  message: Schema.String,
  code: Schema.optional(Schema.String)
}) {
  readonly isRetryable = false
}

/** Too many requests (429). */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  message: Schema.String,
  retryAfter: Schema.optional(Schema.Duration),
  /** The answer carried `x-should-retry: false`. */
  final: Schema.optional(Schema.Boolean)
}) {
  get isRetryable(): boolean {
    return this.final !== true
  }
}

/** The gateway or the provider behind it failed (5xx), or said with `x-should-retry: true` that the call may be repeated. */
export class ServerFailure extends Schema.TaggedError<ServerFailure>()("ServerFailure", {
  message: Schema.String,
  status: Schema.Int,
  retryAfter: Schema.optional(Schema.Duration),
  /** The answer carried `x-should-retry: false`. */
  final: Schema.optional(Schema.Boolean)
}) {
  get isRetryable(): boolean {
    return this.final !== true
  }
}

/** Nothing answered at that address: refused, reset, or no such host. */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", {
  message: Schema.String
}) {
  readonly isRetryable = true
}

/** No whole answer came in time. `scope` says which limit ran out: that of one attempt, or of the whole call. */
export class TimedOut extends Schema.TaggedError<TimedOut>()("TimedOut", {
  message: Schema.String,
  scope: Schema.Literals(["attempt", "call"]),
  after: Schema.Duration
}) {
  get isRetryable(): boolean {
    return this.scope === "attempt"
  }
}

/** An answer came and cannot be trusted: not JSON, a wrong shape, count, index, dimension, or a number that is not finite. */
export class InvalidResponse extends Schema.TaggedError<InvalidResponse>()("InvalidResponse", {
  message: Schema.String
}) {
  readonly isRetryable = false
}

/** A task that was created, an image's or a video's, ended in `failed`. Making it again is a new, paid creation. */
export class TaskFailed extends Schema.TaggedError<TaskFailed>()("TaskFailed", {
  message: Schema.String,
  /** The task's identifier at the gateway; empty where it failed before it had one. */
  task: Schema.String,
  /** The `error` that the task carried, as it came. */
  error: Schema.optional(Schema.Unknown)
}) {
  readonly isRetryable = false
}

const singleReasons = [
  InvalidRequest,
  Unauthorized,
  Forbidden,
  InsufficientQuota,
  NotFound,
  RateLimited,
  ServerFailure,
  Unreachable,
  TimedOut,
  InvalidResponse,
  TaskFailed
] as const

/**
 * Some batches of one call for many texts failed, the others succeeded.
 *
 * `kept` has the vectors that were paid for, by position in the input; `failed` the positions that have none.
 * Retry with the failed inputs alone.
 */
export class PartialFailure extends Schema.TaggedError<PartialFailure>()("PartialFailure", {
  message: Schema.String,
  failed: Schema.Array(Schema.Int),
  kept: Schema.declare((u): u is ReadonlyMap<number, Float32Array> => u instanceof Map),
  /** Why the first failed batch failed. */
  first: Schema.Union(singleReasons)
}) {
  get isRetryable(): boolean {
    return this.first.isRetryable
  }
}

/** Why a call of the gateway failed. */
export const GatewayReason = Schema.Union([...singleReasons, PartialFailure])
export type GatewayReason = typeof GatewayReason.Type

/** A message that another sentence follows: with the full stop that gateways often leave out. */
export const sentence = (message: string): string => (/[.!?…。]$/.test(message) ? message : `${message}.`)

/** How gateways say that the path is none of theirs. */
const NO_ROUTE: ReadonlySet<string> = new Set(["route_not_found", "unknown_url"])

/** The reasons after which nobody knows how far a call came: what it creates may be there all the same. */
export const IN_DOUBT_REASONS: ReadonlySet<GatewayReason["_tag"]> = new Set([
  "ServerFailure",
  "Unreachable",
  "TimedOut",
  "InvalidResponse"
])

/** Why a look at a task failed, and said nothing of the task. */
const UNSEEN: ReadonlySet<GatewayReason["_tag"]> = new Set([...IN_DOUBT_REASONS, "RateLimited"])

/**
 * A call of the gateway, or of a model in its place, failed.
 *
 * It says which operation, which model, which attempt and, where the gateway gave one, which request; never a
 * credential.
 */
export class GatewayError extends Schema.TaggedError<GatewayError>()("GatewayError", {
  operation: Schema.String,
  reason: GatewayReason,
  model: Schema.optional(Schema.String),
  /** The task that was waited for, which goes on at the gateway unless the reason is `TaskFailed`. */
  task: Schema.optional(Schema.String),
  requestId: Schema.optional(Schema.String),
  /** Which attempt it was that failed last, from 1; absent where none was made. */
  attempt: Schema.optional(Schema.Int),
  /** The call surely did not take effect: no byte of it was sent, or it was answered 429. A creation may be made again. */
  unmade: Schema.optional(Schema.Boolean),
  /** It was a creation, which may have happened all the same, and been paid for: look before it is made again. */
  inDoubt: Schema.optional(Schema.Boolean),
  /** The call created `task` and failed while it waited: resume that one. The same call creates another, paid for as well. */
  made: Schema.optional(Schema.Boolean)
}) {
  override get message(): string {
    const about = [
      this.model && `model ${this.model}`,
      this.task && `task ${this.task}`,
      this.requestId && `request ${this.requestId}`,
      this.attempt !== undefined && this.attempt > 1 && `attempt ${this.attempt}`
    ].filter(Boolean)
    const where = `${this.operation}${about.length > 0 ? ` (${about.join(", ")})` : ""}`
    const what = this.reason.message
    if (this.advice === undefined) return `${where}: ${what}`
    return `${where}: ${sentence(what)} ${this.advice}`
  }

  /** What to try next; the end of `message`. Undefined where the reason's own message says it. */
  get advice(): string | undefined {
    const { reason } = this
    if (this.inDoubt === true) return undefined
    if (this.made === true && this.attempt !== undefined && UNSEEN.has(reason._tag)) {
      return `The task goes on at the gateway: resume it by its id, ${this.task}.`
    }
    switch (reason._tag) {
      case "InvalidRequest":
        // What was refused here says itself what would do, and a task that is not so far may be so later.
        if (this.attempt === undefined || (this.task !== undefined && reason.param === undefined))
          return undefined
        return `Correct ${reason.param === undefined ? "the request" : `\`${reason.param}\``}: as it is, it will be refused again.`
      case "Unauthorized":
        return "Check that the credential is whole, enabled, and the one for this path."
      case "Forbidden":
        return "Use a credential that may do this, or have it permitted."
      case "InsufficientQuota":
        return "Add to the balance of the user, or to the quota of the key."
      case "NotFound":
        return reason.code !== undefined && NO_ROUTE.has(reason.code)
          ? "Check the base URL: the paths begin at its end with /v1 or /api."
          : this.absent
      case "RateLimited":
        return reason.retryAfter === undefined
          ? "Make fewer calls at once, and this one later."
          : `Call again in ${Duration.format(reason.retryAfter)}.`
      case "ServerFailure":
        return reason.isRetryable ? "Call again later." : "Tell whoever runs the gateway."
      case "Unreachable":
        return "It may pass: call again later."
      case "TimedOut":
        // A wait for a task, or for one that nobody knows the id of, says itself how to go on.
        return this.attempt === undefined ? undefined : "Call again, or allow it more time."
      case "InvalidResponse":
        return this.attempt === undefined ? undefined : "If it comes again, tell whoever runs the gateway."
      case "TaskFailed":
        return "Change what was asked for and make it anew, which is another task to pay for."
      case "PartialFailure":
        return undefined
    }
  }

  /** What is not there, and where to look for what is. */
  private get absent(): string {
    if (this.task !== undefined) {
      return "Check the task's identifier and whose key it was made with; tasks and their files are not kept for ever."
    }
    return this.model === undefined
      ? "Check the identifier: what it stood for may have been removed."
      : "Check the model's identifier; the lists of models say which there are."
  }

  /**
   * Whether the same call may succeed if it is made again, and creates nothing twice.
   *
   * **Details.** False where a creation is `inDoubt`, or what it `made` goes on, even if `reason.isRetryable` is true.
   */
  get isRetryable(): boolean {
    return this.inDoubt !== true && this.made !== true && this.reason.isRetryable
  }

  /** How long the gateway asked to wait, when it did. */
  get retryAfter(): Duration.Duration | undefined {
    return "retryAfter" in this.reason ? this.reason.retryAfter : undefined
  }
}
