/** What a failure of the library means over HTTP. */
import { Failure } from "@sluice/core/contract"
import { GatewayError } from "@sluice/core"
import type { RagError, RagReason } from "@sluice/rag"

const statuses: Record<RagReason, Failure["status"]> = {
  Empty: 400,
  UnsupportedFormat: 415,
  Malformed: 422,
  Encrypted: 422,
  TooLarge: 413,
  NotFound: 404,
  PermissionDenied: 500,
  NoSpace: 503,
  ManifestMismatch: 409,
  Stale: 409,
  NewerVersion: 409,
  Model: 502,
  Store: 500,
  Internal: 500
}

/** `UnsupportedFormat` → `unsupported_format`. */
export const reasonCode = (reason: RagReason): string =>
  reason.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()

/** The message, and what mends it at this server where the library alone would name a function. */
export const messageOf = ({ message, reason }: RagError): string =>
  reason === "ManifestMismatch"
    ? `${message} At this server \`POST /rebuild\` does that, as does its page, for each user's own documents.`
    : message

/** Status, code and message; a model's own failure keeps what the gateway said. */
export const ragFailure = (error: RagError): Failure => {
  if (error.reason === "Model" && error.cause instanceof GatewayError) {
    return Failure.fromReason(error.cause.reason)
  }
  return new Failure({
    status: statuses[error.reason],
    message: messageOf(error),
    code: reasonCode(error.reason),
    ...(error.document !== undefined && { param: error.document }),
    retryable: error.reason === "NoSpace" || error.reason === "Store"
  })
}
