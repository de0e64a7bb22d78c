/**
 * One error for every call of the gateway, with its reasons.
 *
 * Catch all of them by the tag, or one reason at a time:
 *
 * ```ts
 * program.pipe(Effect.catchReason("GatewayError", "RateLimited", (reason) => Effect.sleep(reason.retryAfter ?? "1 second")))
 * ```
 */
import { Duration, Schema } from "effect"

const message = { message: Schema.String }

const retry = {
  /** The wait that the gateway asked for. */
  retryAfter: Schema.optional(Schema.Duration),
  /** The response had `x-should-retry: false`. */
  final: Schema.optional(Schema.Boolean)
}

/** The request itself is wrong (400, 409, 413, 415, 422, or refused before it was sent). Repeating it does not help. */
export class InvalidRequest extends Schema.TaggedError<InvalidRequest>()("InvalidRequest", {
  ...message,
  /** The field at fault, as the gateway names it. */
  param: Schema.optional(Schema.String),
  code: Schema.optional(Schema.String),
  /** The status of the refusal, if not 400. */
  status: Schema.optional(Schema.Int)
}) {
  readonly isRetryable = false
}

/** The credential is missing, wrong, disabled or expired (401). */
export class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", message) {
  readonly isRetryable = false
}

/** The credential is valid but lacks the permission (403). */
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", {
  ...message,
  code: Schema.optional(Schema.String)
}) {
  readonly isRetryable = false
}

/** The balance of the user or of the key does not cover the call (402, or 403 with a quota code). */
export class InsufficientQuota extends Schema.TaggedError<InsufficientQuota>()("InsufficientQuota", message) {
  readonly isRetryable = false
}

/** The provider's moderation refused the prompt or its result. Change the prompt. */
export class ContentFiltered extends Schema.TaggedError<ContentFiltered>()("ContentFiltered", {
  ...message,
  code: Schema.optional(Schema.String)
}) {
  readonly isRetryable = false
}

/** No such model, task or record (404). */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", {
  ...message,
  code: Schema.optional(Schema.String)
}) {
  readonly isRetryable = false
}

/** Too many requests (429). */
export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  ...message,
  ...retry
}) {
  get isRetryable(): boolean {
    return this.final !== true
  }
}

/** The gateway or the provider behind it failed (5xx), or asked for a retry with `x-should-retry: true`. */
export class ServerFailure extends Schema.TaggedError<ServerFailure>()("ServerFailure", {
  ...message,
  status: Schema.Int,
  ...retry
}) {
  get isRetryable(): boolean {
    return this.final !== true
  }
}

/** No connection: refused, reset, or unknown host. */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", message) {
  readonly isRetryable = true
}

/** No complete response in time. `scope` is the limit that ran out: one attempt, or the whole call. */
export class TimedOut extends Schema.TaggedError<TimedOut>()("TimedOut", {
  ...message,
  scope: Schema.Literals(["attempt", "call"]),
  after: Schema.Duration
}) {
  get isRetryable(): boolean {
    return this.scope === "attempt"
  }
}

/** An invalid response: not JSON, a wrong shape, count, index or dimension, or a number that is not finite. */
export class InvalidResponse extends Schema.TaggedError<InvalidResponse>()("InvalidResponse", message) {
  readonly isRetryable = false
}

/** An image or video task ended in `failed`. Creating it again is charged again. */
export class TaskFailed extends Schema.TaggedError<TaskFailed>()("TaskFailed", {
  ...message,
  /** The task's id. Empty if it failed before it had one. */
  task: Schema.String,
  /** The unchanged `error` of the task. */
  error: Schema.optional(Schema.Unknown)
}) {
  readonly isRetryable = false
}

const singleReasons = [
  InvalidRequest,
  Unauthorized,
  Forbidden,
  InsufficientQuota,
  ContentFiltered,
  NotFound,
  RateLimited,
  ServerFailure,
  Unreachable,
  TimedOut,
  InvalidResponse,
  TaskFailed
] as const

/**
 * Some batches of one embeddings call failed, the others succeeded.
 *
 * `kept` has the vectors by position in the input; `failed` has the positions without a vector. Retry only those.
 */
export class PartialFailure extends Schema.TaggedError<PartialFailure>()("PartialFailure", {
  ...message,
  failed: Schema.Array(Schema.Int),
  kept: Schema.declare((u): u is ReadonlyMap<number, Float32Array> => u instanceof Map),
  /** The reason of the first failed batch. */
  first: Schema.Union(singleReasons)
}) {
  get isRetryable(): boolean {
    return this.first.isRetryable
  }
}

/** The reasons of a `GatewayError`. */
export const GatewayReason = Schema.Union([...singleReasons, PartialFailure])
export type GatewayReason = typeof GatewayReason.Type

/** The message, ending in a full stop. */
export const asSentence = (message: string): string => (/[.!?…。]$/.test(message) ? message : `${message}.`)

/** The `code` of a refusal by a web page: a firewall's or a proxy's, not the gateway's. */
export const WEB_PAGE = "web_page"

/** Codes for an unknown path. */
const NO_ROUTE: ReadonlySet<string> = new Set(["route_not_found", "unknown_url"])

/** Ends the message of a creation that failed with unknown outcome. */
export const UNKNOWN_OUTCOME_NOTICE = "It may have been executed and charged. Check before repeating it."

/** The reasons after which a creation may still have been executed. */
export const UNKNOWN_OUTCOME_REASONS: ReadonlySet<GatewayReason["_tag"]> = new Set([
  "ServerFailure",
  "Unreachable",
  "TimedOut",
  "InvalidResponse"
])

/** The reasons for which polling a task can fail while the task goes on. */
const TASK_STATE_UNKNOWN: ReadonlySet<GatewayReason["_tag"]> = new Set([
  ...UNKNOWN_OUTCOME_REASONS,
  "RateLimited"
])

/** Advice that depends only on the reason. */
const ADVICE: Partial<Record<GatewayReason["_tag"], string>> = {
  Unauthorized: "Check that the credential is complete, enabled, and valid for this path.",
  Forbidden: "Use a credential with this permission, or request the permission.",
  InsufficientQuota: "Add to the balance of the user, or to the quota of the key.",
  ContentFiltered: "Change the prompt or the image: unchanged, it will be refused again.",
  Unreachable: "Retry later.",
  TaskFailed: "Change the request and create a new task, which is charged again."
}

/**
 * A failed call of the gateway, or of a model that stands in for it.
 *
 * The message has the operation, the model, the attempt and the request id, never a credential.
 */
export class GatewayError extends Schema.TaggedError<GatewayError>()("GatewayError", {
  operation: Schema.String,
  reason: GatewayReason,
  model: Schema.optional(Schema.String),
  /** The id of the awaited task. It goes on at the gateway unless the reason is `TaskFailed`. */
  task: Schema.optional(Schema.String),
  requestId: Schema.optional(Schema.String),
  /** The last attempt, from 1. Absent if no attempt was made. */
  attempt: Schema.optional(Schema.Int),
  /**
   * The body of a model's successful response that could not be used, without the credential. The call was charged: what it
   * returned is here.
   */
  response: Schema.optional(Schema.String),
  /** The call was not executed: nothing was sent, or the response was 429. A creation may be repeated. */
  notExecuted: Schema.optional(Schema.Boolean),
  /** A creation that may have been executed and charged. Check before repeating it. */
  outcomeUnknown: Schema.optional(Schema.Boolean),
  /** The call created `task` and failed while waiting. Resume the task; repeating the call creates and charges another one. */
  taskCreated: Schema.optional(Schema.Boolean)
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
    return `${where}: ${asSentence(what)} ${this.advice}`
  }

  /** What to try next, appended to `message`. Undefined if the reason's own message covers it. */
  get advice(): string | undefined {
    const { reason } = this
    if (this.outcomeUnknown === true) return undefined
    if (this.taskCreated === true && this.attempt !== undefined && TASK_STATE_UNKNOWN.has(reason._tag)) {
      return `The task goes on at the gateway: resume it by its id, ${this.task}.`
    }
    switch (reason._tag) {
      case "InvalidRequest":
        // A local refusal says what to do. A task that is not ready yet may be ready later.
        if (this.attempt === undefined || (this.task !== undefined && reason.param === undefined))
          return undefined
        return `Correct ${reason.param === undefined ? "the request" : `\`${reason.param}\``}: unchanged, it will be refused again.`
      case "Forbidden":
        return reason.code === WEB_PAGE
          ? "Check the network, or ask the operator of the gateway to admit this client."
          : ADVICE.Forbidden
      case "NotFound":
        if (reason.code === WEB_PAGE) return undefined
        return reason.code !== undefined && NO_ROUTE.has(reason.code)
          ? "Check the base URL: it must not include /v1 or /api."
          : this.notFoundAdvice
      case "RateLimited":
        return reason.retryAfter === undefined
          ? "Retry later, with fewer concurrent calls."
          : `Retry in ${Duration.format(reason.retryAfter)}.`
      case "ServerFailure":
        return reason.isRetryable ? "Retry later." : "Report it to the operator of the gateway."
      case "TimedOut":
        // Without an attempt the limit was the wait for a task, whose message says how to go on.
        return this.attempt === undefined ? undefined : "Retry, or raise the timeout."
      case "InvalidResponse":
        return this.attempt === undefined
          ? undefined
          : "If it happens again, report it to the operator of the gateway."
      default:
        return ADVICE[reason._tag]
    }
  }

  /** Advice for `NotFound`. */
  private get notFoundAdvice(): string {
    if (this.task !== undefined) {
      return "Check the task's id and the key that created it. Tasks and their files expire."
    }
    return this.model === undefined
      ? "Check the id: the record may have been removed."
      : "Check the model's id against the list of models."
  }

  /**
   * True if repeating the call may succeed and creates nothing twice.
   *
   * **Details.** False with `outcomeUnknown` or `taskCreated`, even if `reason.isRetryable` is true.
   */
  get isRetryable(): boolean {
    return this.outcomeUnknown !== true && this.taskCreated !== true && this.reason.isRetryable
  }

  /** The wait that the gateway asked for. */
  get retryAfter(): Duration.Duration | undefined {
    return "retryAfter" in this.reason ? this.reason.retryAfter : undefined
  }
}
