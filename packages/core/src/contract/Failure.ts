/**
 * Failures over HTTP: the body, the headers, and the map between statuses and reasons.
 *
 * Handlers fail with `Failure.fromReason(reason)`; the client decodes a response with `reasonOfStatus`.
 */
import { Duration, Effect, Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import {
  Forbidden,
  type GatewayReason,
  InsufficientQuota,
  InvalidRequest,
  NotFound,
  RateLimited,
  ServerFailure,
  Unauthorized
} from "./GatewayError.ts"

/**
 * The body of every failed call. All four fields are always sent, `null` if empty.
 *
 * The outer `message` repeats the inner one for Cohere clients. With `success: false` the body is also the
 * envelope of `/api`, so that every path uses the same body.
 */
export const ErrorBody = Schema.Struct({
  success: Schema.optional(Schema.Literal(false)),
  error: Schema.Struct({
    message: Schema.String,
    type: Schema.NullOr(Schema.String),
    param: Schema.NullOr(Schema.String),
    code: Schema.NullOr(Schema.String)
  }),
  message: Schema.optional(Schema.String)
}).annotate({ identifier: "Error" })
export type ErrorBody = typeof ErrorBody.Type

const STATUSES = [400, 401, 403, 404, 409, 413, 415, 422, 429, 500, 502, 503, 504] as const

/** Client error statuses that are passed on instead of 400. */
const REFUSALS = [409, 413, 422] as const

/** The `type` of a status. Other statuses are `server_error` or `invalid_request_error`. */
const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error"
}

/** Sent with 429 and 503 if the wait is unknown. */
const RETRY_AFTER_DEFAULT = Duration.seconds(1)

/** Removes the names of client options, which HTTP callers do not have. */
const withoutOptionNames = (message: string): string =>
  message
    .replace(/ \(`(?:attempt|call)Timeout`\)/, "")
    .replace("than `maxResponseBytes` allows", "than what is read of one")

/** A failed call, raised by a handler: the status, the body's fields, and the retry advice. */
export class Failure extends Schema.TaggedError<Failure>()("Failure", {
  status: Schema.Literals(STATUSES),
  message: Schema.String,
  param: Schema.optional(Schema.String),
  code: Schema.optional(Schema.String),
  retryAfter: Schema.optional(Schema.Duration),
  /** True if the same call may succeed later. Sent as `x-should-retry`. */
  retryable: Schema.Boolean.pipe(Schema.withConstructorDefault(Effect.succeed(false)))
}) {
  /** The response body. */
  get body(): ErrorBody {
    const { code = null, message, param = null, status } = this
    const fallback = status >= 500 ? "server_error" : "invalid_request_error"
    const type = code === "insufficient_quota" ? code : (ERROR_TYPES[status] ?? fallback)
    return { success: false, error: { message, type, param, code }, message }
  }

  /** The response headers. 429 and 503 always have `retry-after`. */
  get headers(): typeof FailureHeaders.Type {
    const isTemporary = this.status === 429 || this.status === 503
    const after = this.retryAfter ?? (isTemporary ? RETRY_AFTER_DEFAULT : undefined)
    return {
      "x-should-retry": this.retryable ? "true" : "false",
      ...(after !== undefined && {
        "retry-after": String(Math.ceil(Duration.toSeconds(after))),
        "retry-after-ms": String(Math.ceil(Duration.toMillis(after)))
      })
    }
  }

  /** The failure of a reason. */
  static fromReason(reason: GatewayReason): Failure {
    const { isRetryable: retryable } = reason
    const message = withoutOptionNames(reason.message)
    switch (reason._tag) {
      case "InvalidRequest": {
        const status = REFUSALS.find((refusal) => refusal === reason.status) ?? 400
        return new Failure({ status, message, param: reason.param, code: reason.code, retryable })
      }
      case "Unauthorized":
        return new Failure({ status: 401, message, code: "invalid_api_key", retryable })
      case "Forbidden":
        return new Failure({ status: 403, message, code: reason.code, retryable })
      case "InsufficientQuota":
        return new Failure({ status: 403, message, code: "insufficient_quota", retryable })
      case "NotFound":
        return new Failure({ status: 404, message, code: reason.code, retryable })
      case "RateLimited": {
        const { retryAfter } = reason
        return new Failure({ status: 429, message, code: "rate_limited", retryAfter, retryable })
      }
      case "ServerFailure": {
        const status = reason.status === 503 ? 503 : reason.status === 500 ? 500 : 502
        return new Failure({ status, message, retryAfter: reason.retryAfter, retryable })
      }
      case "Unreachable":
        return new Failure({ status: 502, message, code: "upstream_unreachable", retryable })
      case "InvalidResponse":
        return new Failure({ status: 502, message, code: "upstream_invalid_response", retryable })
      case "TaskFailed":
        return new Failure({ status: 502, message, code: "task_failed", retryable })
      case "TimedOut":
        return new Failure({ status: 504, message, code: "timeout", retryable })
      case "PartialFailure":
        return Failure.fromReason(reason.first)
    }
  }
}

const FailureHeaders = Schema.Struct({
  "x-should-retry": Schema.optional(Schema.String),
  "retry-after": Schema.optional(Schema.String),
  "retry-after-ms": Schema.optional(Schema.String)
})

const response = (status: (typeof STATUSES)[number]) =>
  Failure.check(Schema.makeFilter((failure) => failure.status === status)).pipe(
    HttpApiSchema.encodeToWithHeaders(
      { body: ErrorBody.pipe(HttpApiSchema.status(status)), headers: FailureHeaders.fields },
      {
        decode: ({ body }) =>
          new Failure({
            status,
            message: body.error.message,
            param: body.error.param ?? undefined,
            code: body.error.code ?? undefined,
            retryable: status === 429 || status >= 500
          }),
        encode: (failure) => ({ body: failure.body, headers: failure.headers })
      }
    )
  )

/** The `error` schemas of an endpoint, one for each status. */
export const failures = STATUSES.map(response)

/** The reason of a status and a body. `retryAfter` and `shouldRetry` come from the headers. */
export const reasonOfStatus = (answer: {
  readonly status: number
  readonly message: string
  readonly param?: string | undefined
  readonly code?: string | undefined
  readonly retryAfter?: Duration.Duration | undefined
  /** The value of `x-should-retry`, if present. */
  readonly shouldRetry?: boolean | undefined
}): Exclude<GatewayReason, { readonly _tag: "PartialFailure" }> => {
  const { status, message, code } = answer
  if (status === 401) return new Unauthorized({ message })
  if (status === 402 || (status < 500 && code !== undefined && QUOTA_CODES.has(code))) {
    return new InsufficientQuota({ message })
  }
  if (status === 403) return new Forbidden({ message, code })
  if (status === 404 || status === 410 || code === "model_not_found") return new NotFound({ message, code })
  const final = answer.shouldRetry === undefined ? undefined : !answer.shouldRetry
  if (status === 429) return new RateLimited({ message, retryAfter: answer.retryAfter, final })
  if (status >= 500 || status === 408 || final === false) {
    return new ServerFailure({ message, status, retryAfter: answer.retryAfter, final })
  }
  return new InvalidRequest({ message, param: answer.param, code, ...(status !== 400 && { status }) })
}

/** Codes of an exhausted quota, by one-api gateways and OpenAI; some send them with status 429. */
export const QUOTA_CODES: ReadonlySet<string> = new Set([
  "insufficient_quota",
  "insufficient_user_quota",
  "pre_consume_token_quota_failed"
])
