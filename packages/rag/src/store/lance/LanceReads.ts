/** Reads of a collection's table other than searches. */
import { Effect } from "effect"
import type { DocumentInfo } from "../../document/Document.ts"
import type { Collection, StoredDocument } from "../PassageIndex.ts"
import { attempt, sqlIn, sqlString, type Table } from "./Lance.ts"
import { documentRowId, toPassage, toStored } from "./LanceRows.ts"

/** Rows that are passages of any kind. */
const PASSAGES = "ordinal IS NOT NULL AND kind <> 'gone'"

export const collectionReads = (table: Table) => {
  const documentRows = attempt("store", "listing documents", async () => {
    const rows = await table.query().where("kind = 'document'").select(["document", "metadata"]).toArray()
    return rows as ReadonlyArray<Record<string, unknown>>
  })

  const passages: Collection["passages"] = Effect.fn("LanceCollection.passages")(function* (document) {
    const rows: ReadonlyArray<Record<string, unknown>> = yield* attempt("store", "reading passages", () =>
      table
        .query()
        .where(`${PASSAGES} AND ${sqlIn("document", [document])}`)
        .select(["passage"])
        .toArray()
    )
    return rows.map((row) => toPassage(row["passage"] as string)).toSorted((a, b) => a.ordinal - b.ordinal)
  })

  const documents: Collection["documents"] = documentRows.pipe(
    Effect.map((rows) => rows.map((row) => toStored(row, true).info)),
    Effect.withSpan("LanceCollection.documents")
  )

  const inventory: Collection["inventory"] = Effect.gen(function* () {
    const rows = yield* documentRows
    const counts = yield* attempt("store", "counting passages", async () => {
      const found = new Map<string, number>()
      for await (const batch of table.query().where(PASSAGES).select(["document"])) {
        for (const id of batch.getChildAt(0) ?? []) found.set(id, (found.get(id) ?? 0) + 1)
      }
      return found
    })
    return rows.map((row): StoredDocument => {
      const stored = toStored(row, true)
      return { ...stored, whole: (counts.get(stored.info.id) ?? 0) === stored.info.passages }
    })
  }).pipe(Effect.withSpan("LanceCollection.inventory"))

  const document: Collection["document"] = Effect.fn("LanceCollection.document")(function* (id) {
    const rows: ReadonlyArray<Record<string, unknown>> = yield* attempt("store", "reading a document", () =>
      table
        .query()
        .where(`id = ${sqlString(documentRowId(id))}`)
        .select(["document", "metadata"])
        .limit(1)
        .toArray()
    )
    return rows[0] && toStored(rows[0], true)
  })

  const passageCount: Collection["passageCount"] = attempt("store", "counting passages", () =>
    table.countRows(PASSAGES)
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
