/** Indexes a judged collection in a temporary folder. */
import { Effect, Stream } from "effect"
import { documentId, sha256 } from "../document/Hash.ts"
import type { PassageEmbedder } from "../embedding/PassageEmbedder.ts"
import type { IndexedDocument } from "../store/PassageIndex.ts"
import type { RagError } from "../document/RagError.ts"
import { embeddedText, searchText } from "../document/SearchText.ts"
import type { BeirDocument } from "./Beir.ts"
import { failEvaluation } from "./JsonLines.ts"
import { temporaryCollection } from "./TemporaryCollection.ts"

/** Documents per commit. */
const BATCH = 1_000

/**
 * Writes the documents to a collection, and settles it.
 *
 * **Details.** Each document becomes one passage, whose path is the document's identifier. The embedded text and the search
 * text are made like an ingest's.
 */
export const fillCollection = Effect.fn("JudgedCollection.fill")(function* <R>(
  folder: string,
  documents: Stream.Stream<BeirDocument, RagError, R>
) {
  const { collection, dimension, embedder } = yield* temporaryCollection(folder)
  yield* documents.pipe(
    Stream.rechunk(BATCH),
    Stream.runForEachArray((batch) => Effect.flatMap(indexed(batch, embedder), collection.commit))
  )
  yield* collection.settle
  return { collection, dimension }
})

const indexed = Effect.fn("JudgedCollection.indexed")(function* (
  documents: ReadonlyArray<BeirDocument>,
  embedder: PassageEmbedder
) {
  const ready = documents.map(({ _id, text, title }) => {
    const passage = { ordinal: 0, start: 0, end: text.length, text, headings: [], lines: [] }
    const embedded = embeddedText(title ?? "", passage)
    return { id: _id, title: title ?? "", passage, hash: sha256(embedded), text: embedded }
  })
  const embeddings = yield* embedder.embed(ready)
  return yield* Effect.forEach(ready, ({ hash, id, passage, text, title }, i) => {
    const embedding = embeddings[i]
    if (embedding === undefined) {
      const message = `The embedding model returned no vector for document ${id}.`
      return failEvaluation("Model", message, { document: id })
    }
    if (embedding._tag !== "Vector") return Effect.fail(embedding.error)
    const sha = sha256(id)
    const document: IndexedDocument = {
      info: { id: documentId(id), path: id, title, format: "text", bytes: 0, sha256: sha, passages: 1 },
      source: "",
      original: new Uint8Array(),
      attachments: new Map(),
      passages: [{ passage, hash, vector: embedding.vector, search: searchText(text) }],
      replaces: undefined
    }
    return Effect.succeed(document)
  })
})
