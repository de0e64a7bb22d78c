/**
 * Failures over HTTP: the body, the headers, and the map between statuses and reasons.
 *
 * Handlers fail with `Failure.fromReason(reason)`; the client decodes a response with `reasonOfStatus`.
 */
import { Duration, Effect, Schema } from "effect"
import { HttpServerRespondable, HttpServerResponse } from "effect/http"
import { HttpApiSchema } from "effect/http-api"
import { field } from "./Fields.ts"
import {
  ContentFiltered,
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
  success: field("False: the call failed.", Schema.optional(Schema.Literal(false))),
  error: field(
    "What failed.",
    Schema.Struct({
      message: field("What failed, and what to try.", Schema.String),
      type: field("The kind of the failure, such as `rate_limit_error`.", Schema.NullOr(Schema.String)),
      param: field("The field that is wrong, if it is one.", Schema.NullOr(Schema.String)),
      code: field("A word for programs, such as `insufficient_quota`.", Schema.NullOr(Schema.String))
    })
  ),
  message: field("The same as `error.message`, for Cohere's clients.", Schema.optional(Schema.String))
}).annotate({ identifier: "Error" })
export type ErrorBody = typeof ErrorBody.Type

const STATUSES = [400, 401, 403, 404, 409, 413, 415, 422, 429, 500, 502, 503, 504] as const

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
  message.replace(/ \(`(?:attemptTimeout|callTimeout|maxResponseBytes)`\)/, "")

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

  /** Lets a server of `HttpApi` send it without a schema. */
  [HttpServerRespondable.symbol](): Effect.Effect<HttpServerResponse.HttpServerResponse> {
    return Effect.succeed(
      HttpServerResponse.jsonUnsafe(this.body, { status: this.status, headers: this.headers })
    )
  }

  /** The failure of a reason. */
  static fromReason(reason: GatewayReason): Failure {
    if (reason._tag === "PartialFailure") return Failure.fromReason(reason.first)
    const { code, kept = [], status } = RESPONSES[reason._tag]
    const given = "status" in reason ? reason.status : undefined
    return new Failure({
      status: kept.find((one) => one === given) ?? status,
      message: withoutOptionNames(reason.message),
      param: "param" in reason ? reason.param : undefined,
      code: "code" in reason ? reason.code : code,
      retryAfter: "retryAfter" in reason ? reason.retryAfter : undefined,
      retryable: reason.isRetryable
    })
  }
}

interface Response {
  readonly status: (typeof STATUSES)[number]
  /** The statuses of a reason that are passed on. */
  readonly kept?: ReadonlyArray<(typeof STATUSES)[number]>
  /** The code, unless the reason has its own. */
  readonly code?: string
}

const RESPONSES: Readonly<Record<Exclude<GatewayReason["_tag"], "PartialFailure">, Response>> = {
  InvalidRequest: { status: 400, kept: [409, 413, 422] },
  Unauthorized: { status: 401, code: "invalid_api_key" },
  Forbidden: { status: 403 },
  InsufficientQuota: { status: 403, code: "insufficient_quota" },
  ContentFiltered: { status: 400, code: "content_filter" },
  NotFound: { status: 404 },
  RateLimited: { status: 429, code: "rate_limited" },
  ServerFailure: { status: 502, kept: [500, 503] },
  Unreachable: { status: 502, code: "upstream_unreachable" },
  InvalidResponse: { status: 502, code: "upstream_invalid_response" },
  TaskFailed: { status: 502, code: "task_failed" },
  TimedOut: { status: 504, code: "timeout" }
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
  if (status < 500 && code !== undefined && CONTENT_CODES.has(code))
    return new ContentFiltered({ message, code })
  if (status === 403) return new Forbidden({ message, code })
  if (status === 404 || status === 410 || code === "model_not_found") return new NotFound({ message, code })
  const final = answer.shouldRetry === undefined ? undefined : !answer.shouldRetry
  if (status === 429) return new RateLimited({ message, retryAfter: answer.retryAfter, final })
  if (status >= 500 || status === 408 || final === false) {
    return new ServerFailure({ message, status, retryAfter: answer.retryAfter, final })
  }
  return new InvalidRequest({ message, param: answer.param, code, ...(status !== 400 && { status }) })
}

/** Codes of a refusal by moderation. */
export const CONTENT_CODES: ReadonlySet<string> = new Set([
  "content_filter",
  "content_policy_violation",
  "moderation_blocked",
  "sensitive_words_detected"
])

/** Codes of an exhausted quota, by one-api gateways and OpenAI; some send them with status 429. */
export const QUOTA_CODES: ReadonlySet<string> = new Set([
  "insufficient_quota",
  "insufficient_user_quota",
  "pre_consume_token_quota_failed"
])
