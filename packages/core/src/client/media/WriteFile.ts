/** Writes downloads to files. */
import { Effect, type FileSystem, Stream } from "effect"
import { InvalidRequest } from "../../contract/GatewayError.ts"
import type { DownloadedVideo } from "../../gateway/Videos.ts"

/** Advice for the errors of a file system. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ["NotFound", "its folder does not exist. Create it first."],
  ["PermissionDenied", "this user may not write to its folder. Choose another one."]
])

/**
 * Writes bytes to a temporary file in the folder of `path` and renames it when it is complete.
 *
 * The temporary file is removed after a failure or an interruption. It is created before the first byte is requested.
 */
export const writeFileAtomically = Effect.fnUntraced(function* <E>(
  files: FileSystem.FileSystem,
  path: string,
  bytes: Stream.Stream<Uint8Array, E>
): Effect.fn.Return<DownloadedVideo, E | InvalidRequest> {
  const cannotWrite = (error: { readonly message: string; readonly reason?: { readonly _tag: string } }) => {
    const why = ADVICE.get(error.reason?._tag ?? "") ?? error.message
    return new InvalidRequest({ message: `${path} cannot be written: ${why}`, param: "path" })
  }
  const isFolder = yield* files.stat(path).pipe(
    Effect.map(({ type }) => type === "Directory"),
    Effect.orElseSucceed(() => false)
  )
  if (isFolder) return yield* cannotWrite({ message: "it is a folder. Add a file name." })
  const temporary = `${path}.${crypto.randomUUID().slice(0, 8)}.part`
  const write = Effect.scoped(
    Effect.gen(function* () {
      const file = yield* Effect.mapError(files.open(temporary, { flag: "wx" }), cannotWrite)
      let written = 0
      yield* Stream.runForEach(bytes, (chunk) => {
        written += chunk.length
        return Effect.mapError(file.writeAll(chunk), cannotWrite)
      })
      yield* Effect.mapError(file.sync, cannotWrite)
      return written
    })
  )
  return yield* write.pipe(
    Effect.tap(() => Effect.mapError(files.rename(temporary, path), cannotWrite)),
    Effect.onError(() => Effect.ignore(files.remove(temporary, { force: true }))),
    Effect.map((written): DownloadedVideo => ({ path, bytes: written }))
  )
})
