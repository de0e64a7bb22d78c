/** Converts failures of the library to HTTP failures, and to the last event of a stream. */
import { GatewayError } from "@sluice/core"
import { Failure } from "@sluice/core/contract"
import { RagError, type RagReason } from "@sluice/rag"
import { Cause, Effect, Option, Stream } from "effect"

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
  Source: 502,
  Model: 502,
  Store: 500,
  Damaged: 500,
  Internal: 500
}

/** `UnsupportedFormat` → `unsupported_format`. */
export const reasonCode = (reason: RagReason): string =>
  reason.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()

/** The library's advice to a program, which the server replaces by its own. */
const PROGRAM_ADVICE = / Open it with the same settings,.*/

/** The message. Where the library's advice names a function, the server's says what to do here. */
export const messageOf = ({ message, reason }: RagError): string =>
  reason === "ManifestMismatch"
    ? `${message.replace(PROGRAM_ADVICE, "")} Press “Rebuild now” on the page, or call \`POST /rebuild\`: it rebuilds your own documents.`
    : message

/** Status, code and message. A failure of a gateway's model keeps the gateway's reason, and one of the server is unchanged. */
export const ragFailure = (error: RagError): Failure => {
  if (error.cause instanceof Failure) return error.cause
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

const logDamage = (error: unknown) =>
  error instanceof RagError && error.reason === "Damaged" ? Effect.logError(error.message) : Effect.void

/** Converts the `RagError` of a handler. */
export const withRagFailures = <A, E, R>(
  handler: Effect.Effect<A, E | RagError, R>
): Effect.Effect<A, Exclude<E, RagError> | Failure, R> =>
  Effect.mapError(Effect.tapError(handler, logDamage), (error) =>
    error instanceof RagError ? ragFailure(error) : (error as Exclude<E, RagError>)
  )

/** Whether the caller accepts server-sent events. */
export const wantsEvents = (headers: { readonly accept?: string }): boolean =>
  headers.accept?.includes("text/event-stream") === true

const internal = new RagError({
  stage: "answer",
  reason: "Internal",
  message: "Internal server error. Please report it, with the server's log"
})

const errorEvent = (error: RagError | Failure) => ({
  type: "error" as const,
  error: (error instanceof RagError ? ragFailure(error) : error).body.error
})

/** Turns a failure into a last `error` event. Internal errors are logged and not shown. */
export const endWithError = <A>(stream: Stream.Stream<A, Failure | RagError>) =>
  Stream.catchCause(stream, (cause): Stream.Stream<ReturnType<typeof errorEvent>> => {
    const failed = Cause.findErrorOption(cause)
    if (Option.isSome(failed))
      return Stream.fromEffect(Effect.as(logDamage(failed.value), errorEvent(failed.value)))
    if (Cause.hasInterruptsOnly(cause)) return Stream.empty
    return Stream.fromEffect(Effect.as(Effect.logError("A stream failed", cause), errorEvent(internal)))
  })
