/** Reads of a collection's table other than searches. */
import { Array, Effect } from "effect"
import type { LRUCache } from "lru-cache"
import type { DocumentInfo, StoredPassage } from "../../document/Document.ts"
import { inPortions } from "../../document/Portions.ts"
import { RagError } from "../../document/RagError.ts"
import type { Collection, StoredDocument } from "../PassageIndex.ts"
import { atOneVersion, attempt, selectRows, sqlIn, type Table } from "./Lance.ts"
import type { repairing } from "./LanceRepair.ts"
import { type DocumentRow, type PassageRow, toPassage, toStored } from "./LanceRows.ts"
import { DOCUMENTS, PASSAGES } from "./LanceTables.ts"
import { countPassages } from "./LanceVectorIndex.ts"

/** Identifiers in one condition at most. */
export const FILTER_IDS = 500

/** Passages that are decoded before other work runs, of 2,000 characters of JSON: 5 ms. A document has up to 80,000. */
const PORTION = 500
const CHARACTERS = 2_000

/** What the last look-ups of documents found, by their identifiers, and at which version. */
export type LookedUp = LRUCache<
  string,
  { readonly version: number; readonly document: StoredDocument | undefined }
>

export const collectionReads = (table: Table, repaired: ReturnType<typeof repairing>, lookedUp: LookedUp) => {
  const documentRows = (doing: string, where: string) =>
    repaired(selectRows<DocumentRow>(table, ["store", doing], ["document", "metadata"], where))
  const allDocumentRows = documentRows("listing documents", DOCUMENTS)

  const passages: Collection["passages"] = Effect.fn("LanceCollection.passages")(function* (document) {
    const where = `${PASSAGES} AND ${sqlIn("document", [document])}`
    const doing = ["store", "reading passages"] as const
    const rows = yield* repaired(selectRows<PassageRow>(table, doing, ["passage"], where))
    const found: Array<StoredPassage> = []
    for (const some of inPortions(rows, PORTION, ({ passage }) => Math.max(1, passage.length / CHARACTERS))) {
      if (found.length > 0) yield* Effect.yieldNow
      found.push(...some.flatMap(({ passage }) => toPassage(passage) ?? []))
    }
    return found.toSorted((a, b) => a.ordinal - b.ordinal)
  })

  const documents: Collection["documents"] = Effect.map(allDocumentRows, (rows) =>
    rows.flatMap((row) => toStored(row)?.info ?? [])
  ).pipe(Effect.withSpan("LanceCollection.documents"))

  /** How many passages each document has. */
  const passageCounts = () =>
    attempt("store", "counting passages", async () => {
      const found = new Map<string, number>()
      for await (const batch of table.query().where(PASSAGES).select(["document"])) {
        for (const id of batch.getChildAt(0) ?? []) found.set(id, (found.get(id) ?? 0) + 1)
      }
      return found
    })

  const inventory: Collection["inventory"] = Effect.gen(function* () {
    const rows = yield* allDocumentRows
    const readable = rows.flatMap((row) => toStored(row) ?? [])
    const damaged = rows.length - readable.length
    if (damaged > 0) {
      yield* Effect.logWarning(
        `${damaged} documents of a collection are damaged and left out. Ingest them again.`
      )
    }
    // A count by document decodes an identifier for each passage, so it is made only if the sums differ.
    const expected = readable.reduce((sum, { info }) => sum + info.passages, 0)
    if (damaged === 0 && (yield* countPassages(table)) === expected) return readable
    return withCompleteness(readable, yield* passageCounts())
  }).pipe(repaired, Effect.withSpan("LanceCollection.inventory"))

  /** The descriptions of some documents, without unknown and damaged ones. */
  const infos = (ids: ReadonlyArray<string>) =>
    Effect.map(
      Effect.forEach(Array.chunksOf(ids, FILTER_IDS), (some) =>
        documentRows("looking up documents", `${DOCUMENTS} AND ${sqlIn("document", some)}`)
      ),
      (rows) => rows.flat().flatMap((row) => toStored(row)?.info ?? [])
    )

  const stored: Collection["stored"] = Effect.fn("LanceCollection.stored")(function* (ids) {
    return (yield* Effect.forEach(Array.chunksOf(ids, FILTER_IDS), (some) =>
      lookUp(table, some, lookedUp)
    )).flat()
  }, repaired)

  const document: Collection["document"] = Effect.fn("LanceCollection.document")(function* (id) {
    const [row] = yield* documentRows("reading a document", `${DOCUMENTS} AND ${sqlIn("document", [id])}`)
    if (row === undefined) return undefined
    const stored = toStored(row)
    if (stored !== undefined) return stored
    const message = `The stored description of document ${id} is damaged. Ingest the document again, or restore the folder from a copy.`
    return yield* new RagError({ stage: "store", reason: "Damaged", message, document: id })
  })

  return {
    passages,
    documents,
    infos,
    inventory,
    stored,
    document
  }
}

/** Some documents, by one query: each reads all files outside the index. */
const lookUp = (table: Table, ids: ReadonlyArray<string>, lookedUp: LookedUp) =>
  attempt("store", "looking up documents", () =>
    atOneVersion(table, async (pinned) => {
      const rows: Array<DocumentRow> = []
      const counts = new Map<string, number>()
      const query = pinned.query().where(`kind <> 'gone' AND ${sqlIn("document", ids)}`)
      for await (const batch of query.select(["document", "kind", "metadata"])) {
        const [documents, kinds, metadata] = [0, 1, 2].map((column) => batch.getChildAt(column))
        for (let row = 0; row < batch.numRows; row++) {
          const document: string = documents?.get(row)
          if (kinds?.get(row) === "document") rows.push({ document, metadata: metadata?.get(row) })
          else counts.set(document, (counts.get(document) ?? 0) + 1)
        }
      }
      const version = await pinned.version()
      const readable = rows.flatMap((row) => toStored(row) ?? [])
      const found = new Map(withCompleteness(readable, counts).map((own) => [own.info.id, own]))
      const seen = new Set([...counts.keys(), ...rows.map(({ document }) => document)])
      for (const id of ids) {
        const document = found.get(id)
        // A commit looks for the remains of a damaged or incomplete one.
        if (document?.isComplete ?? !seen.has(id)) lookedUp.set(id, { version, document })
        else lookedUp.delete(id)
      }
      return [...found.values()]
    })
  )

const withCompleteness = (
  documents: ReadonlyArray<StoredDocument>,
  counts: ReadonlyMap<string, number>
): ReadonlyArray<StoredDocument> =>
  documents.map((stored) => ({
    ...stored,
    isComplete: (counts.get(stored.info.id) ?? 0) === stored.info.passages
  }))

/** The documents, read again only when the table's version has changed: listing many takes long. */
export const cachedDocuments = (table: Table, documents: Collection["documents"]) => {
  let last: { readonly version: number; readonly documents: ReadonlyArray<DocumentInfo> } | undefined
  return Effect.gen(function* () {
    const version = yield* attempt("retrieve", "reading the version", () => table.version())
    if (last?.version !== version) last = { version, documents: yield* documents }
    return last.documents
  })
}
