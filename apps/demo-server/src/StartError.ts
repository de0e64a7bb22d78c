/** Why the server cannot start. The message is for the person at the terminal: what is wrong and what to do. */
import type { RagError } from "@sluice/rag"
import { Console, Effect, type PlatformError, Schema } from "effect"

export class StartError extends Schema.TaggedError<StartError>()("StartError", {
  message: Schema.String
}) {}

const codeOf = (error: PlatformError.PlatformError): string => {
  const cause = error.reason.cause
  return cause instanceof Error && "code" in cause ? String(cause.code) : ""
}

/** What a refusal of the operating system means for the data folder. */
export const dataFolderError =
  (folder: string) =>
  (error: PlatformError.PlatformError): StartError => {
    const code = codeOf(error)
    const elsewhere = "set SLUICE_DATA to another folder"
    if (code === "ENOSPC") {
      return new StartError({
        message: `No space left for the data folder ${folder}: free some, or ${elsewhere}`
      })
    }
    if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
      return new StartError({
        message: `No permission to write to the data folder ${folder}: grant it, or ${elsewhere}`
      })
    }
    if (code === "ENOTDIR" || code === "EEXIST") {
      return new StartError({
        message: `The data folder ${folder} is not a folder: move that file away, or ${elsewhere}`
      })
    }
    return new StartError({
      message: `The data folder ${folder} cannot be used (${code || error.message}): ${elsewhere}`
    })
  }

/** What a library that cannot be opened means for the start. */
export const libraryError =
  (folder: string) =>
  (error: RagError): StartError =>
    new StartError({ message: `The library in ${folder} cannot be opened: ${error.message}` })

/** Says it on standard error, in one line, and sets the exit code. */
export const reportStartError = (error: StartError): Effect.Effect<void> =>
  Effect.andThen(
    Console.error(`Sluice cannot start. ${error.message}`),
    Effect.sync(() => {
      process.exitCode = 1
    })
  )
