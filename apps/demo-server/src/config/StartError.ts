/** Why the server cannot start. The message is for the person at the terminal: what is wrong and what to do. */
import type { GatewayError } from "@sluice/core"
import type { RagError } from "@sluice/rag"
import { type Cause, Console, Effect, type PlatformError, Schema } from "effect"

export class StartError extends Schema.TaggedError<StartError>()("StartError", {
  message: Schema.String
}) {}

const codeOf = (error: PlatformError.PlatformError): string => {
  const cause = error.reason.cause
  return cause instanceof Error && "code" in cause ? String(cause.code) : ""
}

const dataFolderFault = (folder: string, code: string, otherwise: string): StartError => {
  const elsewhere = "set SLUICE_DATA to another folder"
  const said = (message: string) => new StartError({ message: `${message}, or ${elsewhere}` })
  switch (code) {
    case "ENOSPC":
      return said(`No space left for the data folder ${folder}: free some`)
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return said(`No permission to write to the data folder ${folder}: grant it`)
    case "ENOTDIR":
    case "EEXIST":
      return said(`The data folder ${folder} is not a folder: move that file away`)
    default:
      return new StartError({
        message: `The data folder ${folder} cannot be used (${otherwise}): ${elsewhere}`
      })
  }
}

/** What a refusal of the operating system means for the data folder. */
export const dataFolderError =
  (folder: string) =>
  (error: PlatformError.PlatformError): StartError =>
    dataFolderFault(folder, codeOf(error), error.message)

/** What a library that cannot be opened means for the start. */
export const libraryError =
  (folder: string) =>
  ({ reason, message }: RagError): StartError => {
    if (reason === "NoSpace") return dataFolderFault(folder, "ENOSPC", message)
    if (reason === "PermissionDenied") return dataFolderFault(folder, "EACCES", message)
    return new StartError({ message: `The library in ${folder} cannot be opened: ${message}` })
  }

/** What a gateway that cannot be called as configured means for the start. */
export const gatewayError = ({ reason }: GatewayError): StartError =>
  new StartError({ message: `SLUICE_GATEWAY_URL: ${reason.message}` })

/**
 * Says it on standard error, in one line, and sets the exit code. Whatever else went wrong while the rest of the start
 * was being undone is not what the person needs to read; a failure of another kind stays as it is.
 */
export const reportStartError = <E>(cause: Cause.Cause<E>): Effect.Effect<void, E> => {
  const failed = cause.reasons.filter((reason) => reason._tag === "Fail").map(({ error }) => error)
  const found = failed.find((error) => error instanceof StartError)
  if (found === undefined) return Effect.failCause(cause)
  return Effect.andThen(
    Console.error(`Sluice cannot start. ${found.message}`),
    Effect.sync(() => {
      process.exitCode = 1
    })
  )
}
