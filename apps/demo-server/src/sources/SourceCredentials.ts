/** Credentials of sources: files that only the server's user may read, or environment variables. Never sent back, never logged. */
import { Failure } from "@sluice/core/contract"
import { Config, ConfigProvider, Effect, FileSystem, Path, Redacted } from "effect"
import { writePrivately } from "../config/PrivateFile.ts"
import { ServerConfig } from "../config/ServerConfig.ts"
import type { StoredSource } from "./SourceStore.ts"

/** The credential is in the file of the source. Otherwise the text is the name of a variable. */
export const IN_FILE = "file"

const missing = (message: string) => new Failure({ status: 500, message, code: "credential_missing" })

export const makeSourceCredentials = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const provider = yield* ConfigProvider.ConfigProvider
  const folder = path.join((yield* ServerConfig).data, "source-credentials")
  // A backup has files of this name with `--secrets` alone.
  const fileOf = (id: string) => path.join(folder, `${id}.key`)
  return {
    put: (id: string, credential: string) =>
      writePrivately(fileOf(id), credential).pipe(
        Effect.provideService(FileSystem.FileSystem, fs),
        Effect.mapError(() => missing("The credential could not be written into the data folder"))
      ),
    remove: (id: string) => Effect.ignore(fs.remove(fileOf(id))),
    /** Undefined if the source has none. */
    of: ({
      credential,
      id
    }: Pick<StoredSource, "credential" | "id">): Effect.Effect<string | undefined, Failure> => {
      if (credential === null) return Effect.succeed(undefined)
      if (credential === IN_FILE)
        return Effect.mapError(fs.readFileString(fileOf(id)), () =>
          missing(
            "This server has no credential of this source. Set it again, or name a variable that every server has"
          )
        )
      return Effect.mapBoth(Config.Redacted(credential).parse(provider), {
        onFailure: () => missing(`The variable ${credential} is not set at the server that ran this source`),
        onSuccess: Redacted.value
      })
    }
  }
})
