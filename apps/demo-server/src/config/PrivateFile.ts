/** Files that only the server's user may read. */
import { Effect, FileSystem } from "effect"
import { randomUUID } from "node:crypto"
import { dirname } from "node:path"

/** Replaces a file in one step: bytes, or a text. Its folder is made if it is missing. */
export const writePrivately = Effect.fnUntraced(function* (file: string, content: Uint8Array | string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(dirname(file), { recursive: true, mode: 0o700 })
  const temporary = `${file}.${randomUUID()}.new`
  const bytes = typeof content === "string" ? Buffer.from(content) : content
  yield* fs.writeFile(temporary, bytes, { mode: 0o600 }).pipe(
    Effect.andThen(fs.rename(temporary, file)),
    Effect.onError(() => Effect.ignore(fs.remove(temporary)))
  )
})
