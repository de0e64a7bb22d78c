/** A library's documents indexed once more, in a folder of its own, without what some questions were made from. */
import { Vision } from "@sluice/core"
import { Context, Effect } from "effect"
import type { Parsed, StoredPassage } from "../document/Document.ts"
import { type ChunkedDocument, chunkDocument } from "../ingest/ChunkedDocument.ts"
import { searchText } from "../document/SearchText.ts"
import { scratchCollection } from "./ScratchCollection.ts"

/** Passages of one commit. */
const COMMIT_PASSAGES = 1_000

/** Opens the index; `write` takes documents as they come, `settle` writes the last of them. */
export const heldOutIndex = Effect.fn("HeldOutIndex.open")(function* (folder: string) {
  const { collection, dimension, embedder } = yield* scratchCollection(folder)
  let waiting: Array<ChunkedDocument> = []
  let passages = 0

  const flush = Effect.fn("HeldOutIndex.flush")(function* () {
    const drafts = waiting
    waiting = []
    passages = 0
    const embeddings = yield* embedder.embed(drafts.flatMap((draft) => draft.passages))
    let at = 0
    const documents = yield* Effect.forEach(drafts, ({ passages, ...draft }) =>
      Effect.map(
        Effect.forEach(passages, ({ hash, passage, text }) => {
          const embedding = embeddings[at++]!
          return embedding._tag === "Failed"
            ? Effect.fail(embedding.error)
            : Effect.succeed({ passage, hash, vector: embedding.vector, search: searchText(text) })
        }),
        (indexed) => ({ ...draft, passages: indexed, replaces: undefined })
      )
    )
    yield* collection.commit(documents)
  })

  /** Writes a document as an ingest would, without its original, and gives its passages as they will be found. */
  const write = Effect.fn("HeldOutIndex.write")(function* (path: string, parsed: Parsed) {
    const file = {
      path,
      source: "",
      original: new Uint8Array(),
      sha256: path,
      metadata: undefined
    }
    // What image understanding says costs, and is no matter of recall by headings and captions.
    const draft = yield* chunkDocument(file, parsed).pipe(
      Effect.updateContext((context: Context.Context<never>) => Context.omit(Vision)(context))
    )
    waiting.push({ ...draft, attachments: new Map(), reading: undefined })
    passages += draft.passages.length
    if (passages >= COMMIT_PASSAGES) yield* flush()
    return draft.passages.map(({ passage }): Pick<StoredPassage, "id" | "start" | "end"> => ({
      id: `${draft.info.id}#${passage.ordinal}`,
      start: passage.start,
      end: passage.end
    }))
  })

  return { collection, dimension, write, settle: Effect.andThen(flush(), collection.settle) }
})
