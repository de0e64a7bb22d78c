/** Generated images and videos, kept for 24 hours. */
import { GatewayError, ServerFailure } from "@sluice/core"
import { Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import { randomBytes } from "node:crypto"
import { makeNamedFiles } from "./NamedFiles.ts"

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
    const store = yield* makeNamedFiles("media/files")

    const remove = (name: string) =>
      expiryOf(name) === undefined ? Effect.void : Effect.ignore(store.remove([name]))

    const sweep = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const expired = (yield* store.names).filter((name) => (expiryOf(name) ?? Infinity) <= now)
      if (expired.length === 0) return
      yield* store.remove(expired)
      yield* store.maintain
    })
    yield* Effect.forkScoped(Effect.repeat(Effect.ignore(sweep), Schedule.spaced("30 minutes")))

    /** Stores a file and returns its name. */
    const put = Effect.fn("MediaFiles.put")(function* (bytes: Uint8Array, type: MediaType) {
      const now = yield* Clock.currentTimeMillis
      const expires = Math.ceil((now + Duration.toMillis("24 hours")) / 1000)
      const name = `${expires.toString(36)}-${randomBytes(32).toString("base64url")}.${type}`
      yield* store.put(name, bytes).pipe(
        Effect.tapError(({ message }) => Effect.logError(`A media file could not be stored: ${message}`)),
        Effect.mapError(() => {
          const message =
            "The result could not be stored: the disk or store is full, not writable, or out of reach"
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
      const file = yield* store.find(name)
      return file && { ...file, type: name.slice(name.lastIndexOf(".") + 1) as MediaType }
    })

    return { put, find, remove, expiryOf }
  })
}) {
  static readonly layer = Layer.effect(MediaFiles, MediaFiles.make)
}
