/** Converts a `GatewayError` to an `AiError`. */
import * as AiError from "effect/ai/AiError"
import { CONTENT_CODES } from "../contract/Failure.ts"
import type { GatewayError, GatewayReason } from "../contract/GatewayError.ts"

/** The service and the method that failed. A network error shows the path. */
interface AiCall {
  readonly module: string
  readonly method: string
  readonly path: string
}

/**
 * Converts a failure to Effect's `AiError`.
 *
 * **Details.** `description` has the message, except for rate limits and exhausted quotas. `reason.metadata.sluice` has
 * operation, model and request id, except for network errors. `isRetryable` is kept: a rate limit or a 5xx with
 * `x-should-retry: false`, and a timeout of the whole call, therefore become `UnknownError`.
 */
export const aiError = (call: AiCall, error: GatewayError): AiError.AiError =>
  AiError.make({ module: call.module, method: call.method, reason: reasonOf(call, error, error.reason) })

const reasonOf = (call: AiCall, error: GatewayError, reason: GatewayReason): AiError.AiErrorReason => {
  const { message: description } = reason
  const { model = null, operation, requestId = null } = error
  const metadata = { sluice: { operation, model, requestId } }
  switch (reason._tag) {
    case "InvalidRequest":
      return CONTENT_CODES.has(reason.code ?? "")
        ? new AiError.ContentPolicyError({ description, metadata })
        : new AiError.InvalidRequestError({ description, parameter: reason.param, metadata })
    case "ContentFiltered":
      return new AiError.ContentPolicyError({ description, metadata })
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
