/** Writes to a collection's table. A document is written whole, or not at all. */
import { Effect, type Semaphore } from "effect"
import { RagError } from "../../document/RagError.ts"
import type { Collection } from "../PassageIndex.ts"
import { attempt, attemptWrite, sqlIn, type Table, upsert } from "./Lance.ts"
import type { LanceFiles } from "./LanceFiles.ts"
import { FILTER_IDS } from "./LanceReads.ts"
import { documentRow, lanceRows, toArrow, toBatches } from "./LanceRows.ts"

/** `writer` admits one writer at a time within the process. LanceDB resolves conflicts between processes. */
export const collectionWrites = (
  table: Table,
  dimension: number,
  files: LanceFiles,
  writer: Semaphore.Semaphore
): Pick<Collection, "commit" | "adopt" | "remove"> => ({
  commit: Effect.fn("LanceCollection.commit")(function* (documents) {
    if (documents.length === 0) return
    const ids = documents.map(({ info }) => info.id)
    if (new Set(ids).size < ids.length)
      return yield* new RagError({ stage: "ingest", reason: "Internal", message: DUPLICATE })
    const originals = documents.map(({ info, original }) => [info.sha256, original] as const)
    yield* files.put(new Map([...originals, ...documents.flatMap(({ attachments }) => [...attachments])]))
    const rows = lanceRows(documents, { removed: true })
    const { numInsertedRows } = yield* attemptWrite("ingest", "writing passages", () =>
      upsert(table, "id", toBatches(rows, dimension))
    )
    // All rows are new, so no other writer has written these documents.
    if (numInsertedRows === rows.length) return
    // More rows than were written: another writer has written the same documents since they were looked up. Its passages
    // must be removed. Deleting by source reads the whole table, so it is done only then.
    const written = documents.reduce((sum, { passages }) => sum + passages.length + 1, 0)
    const isOwn = sqlIn("document", ids)
    const present = yield* attempt("ingest", "counting what was written", () =>
      table.countRows(`kind <> 'gone' AND ${isOwn}`)
    )
    if (present === written) return
    yield* attemptWrite("ingest", "replacing another writer's passages", () =>
      table
        .mergeInsert("id")
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .whenNotMatchedBySourceDelete({ where: isOwn })
        .execute(toArrow(lanceRows(documents, { removed: false }), dimension))
    )
  }, writer.withPermit),

  adopt: Effect.fn("LanceCollection.adopt")(function* (stored) {
    if (stored.length === 0) return
    const rows = stored.map(({ info, ...known }) => documentRow(info, known))
    yield* attemptWrite("ingest", "recording where documents come from", () =>
      table.mergeInsert("id").whenMatchedUpdateAll().execute(toArrow(rows, dimension))
    )
  }, writer.withPermit),

  remove: Effect.fn("LanceCollection.remove")(function* (ids) {
    for (let i = 0; i < ids.length; i += FILTER_IDS) {
      yield* attemptWrite("ingest", "removing documents", () =>
        table.delete(sqlIn("document", ids.slice(i, i + FILTER_IDS)))
      )
    }
  }, writer.withPermit)
})

/** LanceDB would insert both of two rows with the same key in one batch. */
const DUPLICATE = "Two documents of one commit have the same identifier. Please report this."
