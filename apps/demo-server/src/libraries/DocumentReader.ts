/** Documents read again from their originals, the last PDFs kept: each page of one asks for the whole of it. */
import type { LibraryService, RagError } from "@sluice/rag"
import { Cache, Effect, Exit } from "effect"

/** PDFs kept at most. */
const CAPACITY = 4

type ReadDocument = LibraryService["document"]

/** `Library.document` with a memory. What was read stands for one content of one path: a changed file is read anew. */
export const makeDocumentReader = Effect.fn("DocumentReader.make")(function* (
  library: Effect.Effect<LibraryService, RagError>
) {
  const read = yield* Cache.makeWith(
    (key: string) =>
      // Who else waits for it must not suffer from the first who asked going away.
      Effect.uninterruptible(
        Effect.flatMap(library, ({ document }) => document(key.slice(0, key.indexOf(" "))))
      ),
    { capacity: CAPACITY, timeToLive: (exit) => (Exit.isSuccess(exit) ? "5 minutes" : "0 seconds") }
  )
  const document: ReadDocument = Effect.fn("DocumentReader.document")(function* (id) {
    const open = yield* library
    const { info } = yield* open.file(id)
    return yield* info.format === "pdf" ? Cache.get(read, `${id} ${info.sha256}`) : open.document(id)
  })
  return document
})
