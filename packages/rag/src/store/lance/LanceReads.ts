/** Reads of a collection's table other than searches. */
import { Effect } from "effect"
import type { DocumentInfo } from "../../document/Document.ts"
import { RagError } from "../../document/RagError.ts"
import type { Collection, StoredDocument } from "../PassageIndex.ts"
import { attempt, selectRows, sqlIn, sqlString, type Table } from "./Lance.ts"
import type { repairing } from "./LanceRepair.ts"
import { type DocumentRow, documentRowId, type PassageRow, toPassage, toStored } from "./LanceRows.ts"

/** Rows that are passages of any kind. */
const PASSAGES = "ordinal IS NOT NULL AND kind <> 'gone'"

export const collectionReads = (table: Table, repaired: ReturnType<typeof repairing>) => {
  const documentRows = (doing: string, where: string) =>
    repaired(selectRows<DocumentRow>(table, ["store", doing], ["document", "metadata"], where))
  const allDocumentRows = documentRows("listing documents", "kind = 'document'")

  const passages: Collection["passages"] = Effect.fn("LanceCollection.passages")(function* (document) {
    const where = `${PASSAGES} AND ${sqlIn("document", [document])}`
    const doing = ["store", "reading passages"] as const
    const rows = yield* repaired(selectRows<PassageRow>(table, doing, ["passage"], where))
    return rows.flatMap(({ passage }) => toPassage(passage) ?? []).toSorted((a, b) => a.ordinal - b.ordinal)
  })

  const documents: Collection["documents"] = Effect.map(allDocumentRows, (rows) =>
    rows.flatMap((row) => toStored(row)?.info ?? [])
  ).pipe(Effect.withSpan("LanceCollection.documents"))

  const inventory: Collection["inventory"] = Effect.gen(function* () {
    const rows = yield* allDocumentRows
    const counts = yield* attempt("store", "counting passages", async () => {
      const found = new Map<string, number>()
      for await (const batch of table.query().where(PASSAGES).select(["document"])) {
        for (const id of batch.getChildAt(0) ?? []) found.set(id, (found.get(id) ?? 0) + 1)
      }
      return found
    })
    const readable = rows.flatMap((row) => toStored(row) ?? [])
    const damaged = rows.length - readable.length
    if (damaged > 0) {
      yield* Effect.logWarning(
        `${damaged} documents of a collection are damaged and left out. Ingest them again.`
      )
    }
    return readable.map((stored): StoredDocument => ({
      ...stored,
      isComplete: (counts.get(stored.info.id) ?? 0) === stored.info.passages
    }))
  }).pipe(repaired, Effect.withSpan("LanceCollection.inventory"))

  const document: Collection["document"] = Effect.fn("LanceCollection.document")(function* (id) {
    const [row] = yield* documentRows("reading a document", `id = ${sqlString(documentRowId(id))}`)
    if (row === undefined) return undefined
    const stored = toStored(row)
    if (stored !== undefined) return stored
    const message = `The stored description of document ${id} is damaged. Ingest the document again, or restore the folder from a copy.`
    return yield* new RagError({ stage: "store", reason: "Store", message, document: id })
  })

  const passageCount: Collection["passageCount"] = repaired(
    attempt("store", "counting passages", () => table.countRows(PASSAGES))
  )

  return { passages, documents, inventory, document, passageCount }
}

/** The documents, read again only when the table's version has changed: listing many takes long. */
export const cachedDocuments = (table: Table, documents: Collection["documents"]) => {
  let last: { readonly version: number; readonly documents: ReadonlyArray<DocumentInfo> } | undefined
  return Effect.gen(function* () {
    const version = yield* attempt("retrieve", "reading the version", () => table.version())
    if (last?.version !== version) last = { version, documents: yield* documents }
    return last.documents
  })
}
