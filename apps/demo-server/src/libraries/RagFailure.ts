/** Converts failures of the library to HTTP failures. */
import { GatewayError } from "@sluice/core"
import { Failure } from "@sluice/core/contract"
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

/** The message. Where the library's advice names a function, the server's endpoint is added. */
export const messageOf = ({ message, reason }: RagError): string =>
  reason === "ManifestMismatch"
    ? `${message} On this server, call \`POST /rebuild\` or use the page. It rebuilds your own documents only.`
    : message

/** Status, code and message. A failure of a gateway's model keeps the gateway's reason. */
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
