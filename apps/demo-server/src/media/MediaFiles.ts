/** Generated images and videos: files in the data folder, kept for 24 hours. */
import { GatewayError, ServerFailure } from "@sluice/core"
import { Clock, Context, Duration, Effect, FileSystem, Layer, Path, Schedule } from "effect"
import { randomBytes } from "node:crypto"
import { ServerConfig } from "../config/ServerConfig.ts"

/** A file name: expiry in seconds since 1970 in base 36, 32 random bytes, extension. */
const NAME = /^([0-9a-z]{1,9})-[\w-]{43}\.(png|jpeg|webp|mp4)$/

type MediaType = "png" | "jpeg" | "webp" | "mp4"

/** When a file expires, in ms since 1970; undefined for other names. */
const expiryOf = (name: string): number | undefined => {
  const [, seconds] = NAME.exec(name) ?? []
  return seconds === undefined ? undefined : Number.parseInt(seconds, 36) * 1000
}

/** **Details.** Names cannot be guessed, and knowing one gives access. A name contains its expiry. */
export class MediaFiles extends Context.Service<MediaFiles>()("@sluice/demo-server/MediaFiles", {
  make: Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const { data } = yield* ServerConfig
    const folder = path.join(data, "media", "files")

    const remove = (name: string) =>
      expiryOf(name) === undefined ? Effect.void : Effect.ignore(fs.remove(path.join(folder, name)))

    const sweep = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      for (const name of yield* fs.readDirectory(folder)) {
        if ((expiryOf(name) ?? Infinity) <= now) yield* remove(name)
      }
    })
    // Files that an earlier run wrote only partly.
    const left = yield* Effect.orElseSucceed(fs.readDirectory(folder), () => [])
    for (const name of left) {
      if (name.endsWith(".new")) yield* Effect.ignore(fs.remove(path.join(folder, name)))
    }
    yield* Effect.forkScoped(Effect.repeat(Effect.ignore(sweep), Schedule.spaced("30 minutes")))

    /** Stores a file and returns its name. */
    const put = Effect.fn("MediaFiles.put")(function* (bytes: Uint8Array, type: MediaType) {
      const now = yield* Clock.currentTimeMillis
      const expires = Math.ceil((now + Duration.toMillis("24 hours")) / 1000)
      const name = `${expires.toString(36)}-${randomBytes(32).toString("base64url")}.${type}`
      const file = path.join(folder, name)
      yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 }).pipe(
        Effect.andThen(fs.writeFile(`${file}.new`, bytes, { mode: 0o600 })),
        Effect.andThen(fs.rename(`${file}.new`, file)),
        Effect.tapError(() => Effect.ignore(fs.remove(`${file}.new`))),
        Effect.tapError(({ message }) => Effect.logError(`A media file could not be stored: ${message}`)),
        Effect.mapError(() => {
          const message = "The result could not be stored: the server's disk is full or not writable"
          const reason = new ServerFailure({ message, status: 503 })
          return new GatewayError({ operation: "media", reason })
        })
      )
      return name
    })

    const find = Effect.fn("MediaFiles.find")(function* (name: string) {
      const expires = expiryOf(name)
      if (expires === undefined) return undefined
      if (expires <= (yield* Clock.currentTimeMillis)) return "expired" as const
      const file = path.join(folder, name)
      return yield* fs.stat(file).pipe(
        Effect.map(({ size }) => ({
          path: file,
          bytes: Number(size),
          type: name.slice(name.lastIndexOf(".") + 1) as MediaType
        })),
        Effect.orElseSucceed(() => undefined)
      )
    })

    return { put, find, remove, expiryOf }
  })
}) {
  static readonly layer = Layer.effect(MediaFiles, MediaFiles.make)
}
