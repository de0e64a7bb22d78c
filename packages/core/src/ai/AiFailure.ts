/** A `GatewayError` as an `AiError`: the one map between the two. */
import * as AiError from "effect/ai/AiError"
import type { GatewayError, GatewayReason } from "../contract/GatewayError.ts"

/** The service and the method that failed. A network error shows the path. */
export interface AiCall {
  readonly module: string
  readonly method: string
  readonly path: string
}

/** Codes of a content policy refusal. */
const POLICY_CODES: ReadonlySet<string> = new Set([
  "content_filter",
  "content_policy_violation",
  "moderation_blocked"
])

/**
 * Converts a failure to Effect's `AiError`.
 *
 * **Details.** Messages are kept as `description`, except of a rate limit and of a spent quota, which have no place for
 * one; operation, model and request identifier stand in `reason.metadata.sluice`, except of a network error. `isRetryable` is
 * the same on both sides. Therefore a rate limit or a 5xx with `x-should-retry: false`, and a timeout of the whole call,
 * become `UnknownError`.
 */
export const aiError = (call: AiCall, error: GatewayError): AiError.AiError =>
  AiError.make({ module: call.module, method: call.method, reason: reasonOf(call, error, error.reason) })

const reasonOf = (call: AiCall, error: GatewayError, reason: GatewayReason): AiError.AiErrorReason => {
  const { message: description } = reason
  const { model = null, operation, requestId = null } = error
  const metadata = { sluice: { operation, model, requestId } }
  switch (reason._tag) {
    case "InvalidRequest":
      return reason.code !== undefined && POLICY_CODES.has(reason.code)
        ? new AiError.ContentPolicyError({ description, metadata })
        : new AiError.InvalidRequestError({ description, parameter: reason.param, metadata })
    case "NotFound":
      return new AiError.InvalidRequestError({ description, metadata })
    case "Unauthorized":
      return new AiError.AuthenticationError({ kind: "InvalidKey", description, metadata })
    case "Forbidden":
      return new AiError.AuthenticationError({ kind: "InsufficientPermissions", description, metadata })
    case "InsufficientQuota":
      return new AiError.QuotaExhaustedError({ metadata })
    case "InvalidResponse":
      return new AiError.InvalidResponseError({ description, metadata })
    case "PartialFailure":
      return reasonOf(call, error, reason.first)
    case "TaskFailed":
      return new AiError.UnknownError({ description, metadata })
  }
  if (!error.isRetryable) return new AiError.UnknownError({ description, metadata })
  switch (reason._tag) {
    case "RateLimited":
      return new AiError.RateLimitError({ retryAfter: reason.retryAfter, metadata })
    case "Unreachable":
      return new AiError.NetworkError({
        reason: "TransportError",
        method: "POST",
        url: call.path,
        description
      })
    case "ServerFailure":
    case "TimedOut":
      return new AiError.InternalProviderError({ description, metadata })
  }
}
