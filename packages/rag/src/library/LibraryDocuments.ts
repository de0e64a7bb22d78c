/** The methods of a library that read, remove and maintain its documents. */
import { Effect } from "effect"
import { requireText } from "../document/Arguments.ts"
import type { StoredPassage } from "../document/Document.ts"
import { documentId, sha256 } from "../document/Hash.ts"
import { RagError } from "../document/RagError.ts"
import { parse } from "../formats/ParsedFile.ts"
import { storedFormat } from "../formats/record/Record.ts"
import { decodeParsed } from "../ingest/ParsedCodec.ts"
import { readOriginal } from "../ingest/Rebuild.ts"
import type { LibraryParts } from "./LibraryIngest.ts"
import type { FigurePassage, LibraryService } from "./LibraryService.ts"

export const documentMethods = ({
  collection,
  latestCollection,
  manifest,
  withServices,
  writes
}: LibraryParts) => {
  const find = Effect.fn("Library.find")(function* (id: string) {
    const from = yield* collection
    const given = yield* requireText("store", "The document's identifier", id)
    // A record's own identifier is its path.
    const stored = (yield* from.document(given)) ?? (yield* from.document(documentId(given)))
    return (
      stored ??
      (yield* notFound(id, `Collection "${from.name}" has no document ${id}. It may have been removed.`))
    )
  })

  const passages = Effect.fn("Library.passages")(function* (id: string) {
    const { info } = yield* find(id)
    return yield* (yield* collection).passages(info.id)
  })

  return {
    info: Effect.fn("Library.info")((id: string) => Effect.map(find(id), ({ info }) => info)),
    document: Effect.fn("Library.document")(function* (id) {
      const { info, reading } = yield* find(id)
      const from = yield* collection
      // A damaged reading is made again from the original.
      const stored =
        reading === undefined
          ? undefined
          : yield* Effect.orElseSucceed(from.original(reading), () => undefined)
      if (stored !== undefined) return { info, parsed: yield* decodeParsed(stored, info.path) }
      const bytes = yield* readOriginal(from, info)
      return {
        info,
        parsed: yield* Effect.updateContext(
          parse({ path: info.path, bytes, format: storedFormat(info.format) }),
          withServices
        )
      }
    }),
    file: Effect.fn("Library.file")(function* (id) {
      const { info } = yield* find(id)
      return { info, bytes: yield* readOriginal(yield* collection, info) }
    }),
    passages,
    figures: (id) => Effect.map(passages(id), (all) => all.filter(isFigure)),
    attachment: Effect.fn("Library.attachment")(function* (id, crop) {
      const { attachments = [], info, reading } = yield* find(id)
      const isStored = crop !== reading && attachments.includes(crop)
      const bytes = isStored ? yield* (yield* collection).original(crop, false) : undefined
      // Descriptions of figures are attachments too. Their key is not their hash.
      if (bytes !== undefined && sha256(bytes) === crop) return bytes
      return yield* notFound(id, `${info.path} has no crop ${crop}. The document may have been replaced.`)
    }),
    remove: Effect.fn("Library.remove")(function* (id) {
      const { info } = yield* find(id)
      yield* (yield* latestCollection).remove([info.id])
      return info
    }, writes.withPermit),
    stats: Effect.gen(function* () {
      const from = yield* collection
      const counted = yield* from.stats
      const { format: _, ...settings } = from.manifest
      const isOutdated = settings.chunker !== manifest.chunker
      return { collection: from.name, ...settings, ...counted, isOutdated }
    }).pipe(Effect.withSpan("Library.stats")),
    storedBytes: Effect.flatMap(collection, (from) => from.storedBytes),
    maintain: Effect.flatMap(collection, (from) => from.maintain).pipe(
      writes.withPermit,
      Effect.withSpan("Library.maintain")
    )
  } satisfies Partial<LibraryService>
}

const notFound = (document: string, message: string) =>
  Effect.fail(new RagError({ stage: "store", reason: "NotFound", message, document }))

const isFigure = (passage: StoredPassage): passage is FigurePassage => passage.figure !== undefined
