/** Why a file of a format with parts cannot be read. */
import { Data, Effect } from "effect"
import type { RagError, RagReason } from "../../document/RagError.ts"
import { parseError } from "./DocumentFormat.ts"

export class FormatFault extends Data.TaggedError("FormatFault")<{ reason: RagReason; message: string }> {}

export const malformed = (message: string): FormatFault => new FormatFault({ reason: "Malformed", message })

export const tooLarge = (message: string): FormatFault =>
  new FormatFault({ reason: "TooLarge", message: `${message}. Save it again, or split it.` })

export const passwordProtected = (): FormatFault =>
  new FormatFault({
    reason: "Encrypted",
    message: "this file is password-protected. Save it without a password."
  })

/** Runs a reader that throws a `FormatFault` for a file that cannot be read. */
export const readWithFaults = <A>(path: string, read: () => Promise<A>): Effect.Effect<A, RagError> =>
  Effect.tryPromise({
    try: read,
    catch: (cause) =>
      cause instanceof FormatFault
        ? parseError(path, cause.reason, cause.message, cause)
        : parseError(path, "Internal", "reading this document failed. Please report it.", cause)
  })
