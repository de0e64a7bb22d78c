/** Collections in a temporary folder, for one evaluation. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer, Stream } from "effect"
import type { Parsed } from "../document/Document.ts"
import { documentId, sha256 } from "../document/Hash.ts"
import type { RagError } from "../document/RagError.ts"
import { embeddedText, searchText } from "../document/SearchText.ts"
import { makePassageEmbedder, type PassageEmbedder, presentManifest } from "../embedding/PassageEmbedder.ts"
import { ingestFiles } from "../ingest/Ingest.ts"
import { LanceIndex } from "../store/lance/LanceIndex.ts"
import { type IndexedDocument, PassageIndex } from "../store/PassageIndex.ts"
import type { BeirDocument } from "./Beir.ts"

/** Documents of one commit. */
const DOCUMENTS_PER_COMMIT = 1_000

/** A folder that is removed with the scope. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "sluice-evaluation-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

/** Opens an empty collection in a folder, with the program's embedding model. */
const openCollection = Effect.fn("TemporaryCollection.open")(function* (folder: string) {
  const store = yield* Layer.build(LanceIndex.layer(folder))
  const manifest = yield* presentManifest
  const collection = yield* Effect.flatMap(PassageIndex, (index) => index.open("evaluation", manifest)).pipe(
    Effect.provideContext(store)
  )
  return { collection, embedder: yield* makePassageEmbedder(manifest.dimension, undefined) }
})

/** Fills a collection with parsed documents, as an ingest does, without the original files. */
export const parsedCollection = Effect.fn("TemporaryCollection.parsed")(function* (
  folder: string,
  documents: Stream.Stream<{ readonly path: string; readonly parsed: Parsed }, RagError>
) {
  const { collection, embedder } = yield* openCollection(folder)
  const files = Stream.map(documents, ({ parsed, path }) => ({
    path,
    source: "",
    read: Effect.succeed(new Uint8Array()),
    metadata: Effect.succeed(undefined),
    parsed: Effect.succeed(parsed)
  }))
  yield* Stream.runForEach(ingestFiles(files, collection, embedder, new Map()), (event) =>
    event.type === "document" && event.status === "failed" ? Effect.fail(event.error) : Effect.void
  )
  yield* collection.settle
  return collection
})

/** Fills a collection with the documents of a judged collection. Each is one passage; its identifier is its path. */
export const judgedCollection = Effect.fn("TemporaryCollection.judged")(function* <R>(
  folder: string,
  documents: Stream.Stream<BeirDocument, RagError, R>
) {
  const { collection, embedder } = yield* openCollection(folder)
  yield* documents.pipe(
    Stream.rechunk(DOCUMENTS_PER_COMMIT),
    Stream.runForEachArray((batch) => Effect.flatMap(embedDocuments(batch, embedder), collection.commit))
  )
  yield* collection.settle
  return collection
})

const embedDocuments = Effect.fn("TemporaryCollection.embed")(function* (
  documents: ReadonlyArray<BeirDocument>,
  embedder: PassageEmbedder
) {
  const ready = documents.map(({ _id: id, text, title }) => {
    const passage = { ordinal: 0, start: 0, end: text.length, text, headings: [], lines: [] }
    const embedded = embeddedText(title ?? "", passage)
    return { id, title: title ?? "", passage, hash: sha256(embedded), text: embedded }
  })
  const embeddings = yield* embedder.embed(ready)
  return yield* Effect.forEach(ready, ({ hash, id, passage, text, title }, i) => {
    const embedding = embeddings[i]!
    if (embedding._tag === "Failed") return Effect.fail(embedding.error)
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
