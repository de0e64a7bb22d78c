/** Writes to a collection's table. A document is written whole, or not at all. */
import { Effect, type Semaphore } from "effect"
import { RagError } from "../../document/RagError.ts"
import type { Collection } from "../PassageIndex.ts"
import { append, attempt, attemptWrite, deleteRows, sqlIn, type Table, upsert } from "./Lance.ts"
import { FILTER_IDS, type LookedUp } from "./LanceReads.ts"
import { documentRow, documentRowId, lanceRows, toArrow, toBatches, toStored } from "./LanceRows.ts"

export interface CollectionTables {
  readonly table: Table
  /** The same table of the connection for writes. */
  readonly written: Table
}

/** `writer` admits one writer at a time within the process. LanceDB resolves conflicts between processes. */
export const collectionWrites = (
  { table, written }: CollectionTables,
  dimension: number,
  writer: Semaphore.Semaphore,
  lookedUp: LookedUp,
  /** Called before rows of kind `gone` are written, which `sweep` removes. */
  onGone: () => void
): Pick<Collection, "commit" | "adopt" | "remove"> => ({
  commit: Effect.fn("LanceCollection.commit")(function* (documents) {
    if (documents.length === 0) return
    const ids = documents.map(({ info }) => info.id)
    if (new Set(ids).size < ids.length)
      return yield* new RagError({ stage: "ingest", reason: "Internal", message: DUPLICATE })
    const rows = lanceRows(documents)
    if (rows.some(({ kind }) => kind === "gone")) onGone()
    // New documents are appended: a merge looks for their identifiers.
    const isNew = documents.every(({ replaces }) => replaces === undefined)
    const isAt = (version: number) => ids.every((id) => lookedUp.get(id)?.version === version)
    const { version } = yield* attemptWrite("ingest", "writing passages", async () =>
      isNew
        ? await append(written, toBatches(rows, dimension), isAt(await written.version()))
        : await upsert(written, "id", toBatches(rows, dimension))
    )
    const isSole = documents.every(({ info, replaces }) => {
      const found = lookedUp.get(info.id)
      lookedUp.delete(info.id)
      return found?.version === version - 1 && found.document === replaces
    })
    // The version before had what these documents replace, and nothing else of theirs.
    if (isSole) return
    // If another writer has written the same documents at once, there may be passages of both, or each of them twice. Counted at
    // the version of this commit: who commits after it finds both.
    const expected = documents.reduce((sum, { passages }) => sum + passages.length + 1, 0)
    const count = (from: Table) =>
      attempt("ingest", "counting what was written", () =>
        from.countRows(`kind <> 'gone' AND ${sqlIn("document", ids)}`)
      )
    if ((yield* count(written)) === expected) return
    for (let tries = 0; tries < MIXTURE_TRIES && (yield* count(table)) !== expected; tries++)
      if (!(yield* removeMixture(table, ids))) return
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
        deleteRows(written, sqlIn("document", ids.slice(i, i + FILTER_IDS)))
      )
    }
  }, writer.withPermit)
})

/** Others may write the same documents, or compact, meanwhile. */
const MIXTURE_TRIES = 8

/**
 * Of documents that several writers wrote at once, keeps the version that is last in the table, and deletes the rows of the
 * others. False if there is only one version of each.
 *
 * **Details.** The rows of a commit are adjacent, so that all processes keep the same version. Rows that a compaction has moved
 * since have another address, and are not deleted by mistake.
 */
const removeMixture = Effect.fn("LanceWrites.removeMixture")(function* (
  table: Table,
  ids: ReadonlyArray<string>
) {
  const rows = yield* attempt("ingest", "reading what was written", async () => {
    const columns = ["id", "document", "ordinal", "metadata"]
    const isOwn = `kind <> 'gone' AND ${sqlIn("document", ids)}`
    const found: ReadonlyArray<StoredRow> = await table
      .query()
      .where(isOwn)
      .select(columns)
      .withRowId()
      .toArray()
    return found.map((row) => ({ row, address: row["_rowid"] }))
  })
  const last = new Map<string, (typeof rows)[number]>()
  for (const one of rows) if (one.address > (last.get(one.row.id)?.address ?? -1n)) last.set(one.row.id, one)
  const isSuperseded = (one: (typeof rows)[number]) => {
    if (last.get(one.row.id) !== one) return true
    const { document, ordinal } = one.row
    const metadata = last.get(documentRowId(document))?.row.metadata
    const passages =
      typeof metadata === "string" ? toStored({ document, metadata })?.info.passages : undefined
    return ordinal !== null && passages !== undefined && ordinal >= passages
  }
  const superseded = rows.filter(isSuperseded).map(({ address }) => address)
  for (let i = 0; i < superseded.length; i += FILTER_IDS)
    yield* attemptWrite("ingest", "deleting another writer's passages", () =>
      table.delete(`_rowid IN (${superseded.slice(i, i + FILTER_IDS).join(", ")})`)
    )
  return superseded.length > 0
})

interface StoredRow {
  readonly id: string
  readonly document: string
  readonly ordinal: number | null
  readonly metadata: string | null
  readonly ["_rowid"]: bigint
}

/** LanceDB would insert both of two rows with the same key in one batch. */
const DUPLICATE = "Two documents of one commit have the same identifier. Please report this."
