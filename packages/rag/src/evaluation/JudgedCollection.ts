/** A judged collection in a store of its own: what the ways of retrieving look in. */
import { Effect, Stream } from "effect"
import { documentId } from "../document/Hash.ts"
import { sha256 } from "../document/Hash.ts"
import { type PassageEmbedder } from "../embedding/PassageEmbedder.ts"
import type { IndexedDocument } from "../store/PassageIndex.ts"
import { RagError } from "../document/RagError.ts"
import { embeddedText, searchText } from "../document/SearchText.ts"
import type { BeirDocument } from "./Beir.ts"
import { scratchCollection } from "./ScratchCollection.ts"

/** Documents of one commit. */
const BATCH = 1_000

/**
 * Fills a collection with the documents as they come, and settles it.
 *
 * **Details.** A document of the collection is one passage, whose document's path is its identifier. What is embedded
 * and searched is made as an ingest makes it.
 */
export const fillCollection = Effect.fn("JudgedCollection.fill")(function* <R>(
  folder: string,
  documents: Stream.Stream<BeirDocument, RagError, R>
) {
  const { collection, dimension, embedder } = yield* scratchCollection(folder)
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
    if (embedding?._tag !== "Vector") return Effect.fail(embedding?.error ?? nothing(id))
    const document: IndexedDocument = {
      info: {
        id: documentId(id),
        path: id,
        title,
        format: "text",
        bytes: 0,
        sha256: sha256(id),
        passages: 1
      },
      source: "",
      original: new Uint8Array(),
      attachments: new Map(),
      passages: [{ passage, hash, vector: embedding.vector, search: searchText(text) }],
      replaces: undefined
    }
    return Effect.succeed(document)
  })
})

const nothing = (id: string): RagError =>
  new RagError({
    stage: "evaluate",
    reason: "Model",
    message: `The embedding model gave nothing for document ${id}.`,
    document: id
  })
