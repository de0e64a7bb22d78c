/** Why the server cannot start. The message tells the operator what is wrong and what to do. */
import type { GatewayError } from "@sluice/core"
import type { RagError } from "@sluice/rag"
import { type Cause, Console, Effect, type PlatformError, Schema } from "effect"

export class StartError extends Schema.TaggedError<StartError>()("StartError", {
  message: Schema.String
}) {}

const codeOf = ({ reason: { cause } }: PlatformError.PlatformError): string =>
  cause instanceof Error && "code" in cause ? String(cause.code) : ""

const folderError = (folder: string, code: string, details: string): StartError => {
  const notWritable = `The data folder ${folder} is not writable. Grant write permission`
  const notFolder = `The data folder ${folder} is not a folder. Move that file away`
  const faults: Readonly<Record<string, string>> = {
    ENOSPC: `The disk of the data folder ${folder} is full. Free some space`,
    EACCES: notWritable,
    EPERM: notWritable,
    EROFS: notWritable,
    ENOTDIR: notFolder,
    EEXIST: notFolder
  }
  const fault = faults[code]
    ? `${faults[code]}, or`
    : `The data folder ${folder} cannot be used (${details}):`
  return new StartError({ message: `${fault} set SLUICE_DATA to another folder` })
}

/** A file system error in the data folder. */
export const dataFolderError =
  (folder: string) =>
  (error: PlatformError.PlatformError): StartError =>
    folderError(folder, codeOf(error), error.message)

export const fullDisk = (folder: string): StartError => folderError(folder, "ENOSPC", "")

/** A library that cannot be opened. */
export const libraryError =
  (folder: string) =>
  ({ reason, message }: RagError): StartError => {
    if (reason === "NoSpace") return fullDisk(folder)
    if (reason === "PermissionDenied") return folderError(folder, "EACCES", message)
    return new StartError({ message: `The library in ${folder} cannot be opened: ${message}` })
  }

/** A gateway that cannot be called as configured. */
export const gatewayError = ({ reason }: GatewayError): StartError =>
  new StartError({ message: `SLUICE_GATEWAY_URL: ${reason.message}` })

/**
 * Prints a `StartError` on standard error, in one line, and sets the exit code. It hides errors that followed while the
 * start was undone. Other failures are passed on.
 */
export const reportStartError = <E>(cause: Cause.Cause<E>): Effect.Effect<void, E> => {
  const failures = cause.reasons.filter((reason) => reason._tag === "Fail").map(({ error }) => error)
  const found = failures.find((error) => error instanceof StartError)
  if (found === undefined) return Effect.failCause(cause)
  return Effect.andThen(
    Console.error(`Sluice cannot start. ${found.message}`),
    Effect.sync(() => {
      process.exitCode = 1
    })
  )
}
