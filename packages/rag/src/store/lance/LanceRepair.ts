/** Damaged tables: which rows can be read, and what is lost with the others. */
import { readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { Array, Effect } from "effect"
import type { RagError } from "../../document/RagError.ts"
import { attempt, attemptWrite, isUnreadable, selectRows, sqlIn, type Table } from "./Lance.ts"
import { type DocumentRow, toStored } from "./LanceRows.ts"
import { maintainIndex, trainKeywords } from "./LanceVectorIndex.ts"

/** Rows that are read or deleted at once. */
const BATCH = 1_000

/** Reads rows by their addresses. Only the files that have them are opened. */
const takeRows = <Row>(
  table: Table,
  ids: ReadonlyArray<bigint>,
  columns: ReadonlyArray<keyof Row & string>
) =>
  attempt("store", "reading rows", (): Promise<ReadonlyArray<Row>> => {
    return table
      .takeRowIds(ids)
      .select([...columns])
      .toArray()
  })

/** The addresses of the rows of which all `columns` can be read, and of the others. */
const checkRows = Effect.fn("LanceRepair.check")(function* (table: Table, columns: ReadonlyArray<string>) {
  const readable: Array<bigint> = []
  const unreadable: Array<bigint> = []
  /** Halves rows that cannot be read until single ones are left. */
  const check = (ids: ReadonlyArray<bigint>): Effect.Effect<void, RagError> =>
    Effect.matchEffect(takeRows<Record<string, unknown>>(table, ids, columns), {
      onSuccess: () => Effect.sync(() => void readable.push(...ids)),
      onFailure: (error) => {
        if (!isUnreadable(error)) return Effect.fail(error)
        if (ids.length === 1) return Effect.sync(() => void unreadable.push(...ids))
        const middle = ids.length >> 1
        return Effect.andThen(check(ids.slice(0, middle)), check(ids.slice(middle)))
      }
    })
  const rows = yield* selectRows<{ _rowid: bigint }>(table, ["store", "listing rows"], ["_rowid"])
  const ids = rows.map(({ _rowid }) => _rowid)
  yield* Effect.forEach(Array.chunksOf(ids, BATCH), check, { discard: true })
  return { readable, unreadable }
})

const takeAll = <Row>(table: Table, ids: ReadonlyArray<bigint>, columns: ReadonlyArray<keyof Row & string>) =>
  Effect.map(
    Effect.forEach(Array.chunksOf(ids, BATCH), (some) => takeRows<Row>(table, some, columns)),
    (rows) => rows.flat()
  )

/** The rows that can be read. */
export const readableRows = <Row>(table: Table, columns: ReadonlyArray<keyof Row & string>) =>
  Effect.flatMap(checkRows(table, columns), ({ readable }) => takeAll<Row>(table, readable, columns))

/** Says how many rows of a table cannot be read. With `drops` they are deleted. */
export const repairRows = Effect.fn("LanceRepair.rows")(function* (
  table: Table,
  columns: ReadonlyArray<string>,
  drops: boolean
) {
  const { readable, unreadable } = yield* checkRows(table, columns)
  for (const ids of drops ? Array.chunksOf(unreadable, BATCH) : [])
    yield* attemptWrite("store", "deleting rows", () => table.delete(`_rowid IN (${ids.join(", ")})`))
  const faults = unreadable.length === 0 ? [] : [`${unreadable.length} rows cannot be read`]
  return { readable, faults }
})

interface RepairRow extends DocumentRow {
  readonly kind: string
  readonly path: string | null
}

/** Documents, and how many passages each lacks; undefined if a document's own row is missing or damaged. */
const documentsOf = (rows: ReadonlyArray<RepairRow>) =>
  [...Map.groupBy(rows, ({ document }) => document)].flatMap(([id, own]) => {
    const present = own.filter(({ kind }) => kind !== "gone")
    const passages = present.filter(({ kind }) => kind !== "document")
    const row = present.find(({ kind }) => kind === "document")
    const info = row && toStored(row)?.info
    const path = info?.path ?? passages.find(({ path }) => path !== null)?.path ?? id
    return present.length === 0 ? [] : [{ id, path, lacks: info && info.passages - passages.length }]
  })

/** Says what is damaged in a collection. With `drops` it is deleted, and the indexes are built again. */
export const repairCollection = Effect.fn("LanceRepair.collection")(function* (
  table: Table,
  dimension: number,
  drops: boolean
) {
  const { names } = yield* attempt("store", "reading the columns", () => table.schema())
  const { faults, readable } = yield* repairRows(table, names.map(String), drops)
  const rows = yield* takeAll<RepairRow>(table, readable, ["document", "kind", "metadata", "path"])
  const documents = documentsOf(rows)
  const lost = documents.filter(({ lacks }) => lacks === undefined)
  if (drops) {
    for (const some of Array.chunksOf(lost, BATCH)) {
      const where = sqlIn(
        "document",
        some.map(({ id }) => id)
      )
      yield* attemptWrite("store", "deleting lost documents", () => table.delete(where))
    }
    yield* trainKeywords(table)
    yield* maintainIndex(table, dimension)
  }
  return [
    ...faults,
    ...lost.map(({ path }) => `${path} is lost`),
    ...documents
      .filter(({ lacks = 0 }) => lacks !== 0)
      .map(({ path }) => `${path} lacks passages; a rebuild makes them again`)
  ]
})

/** Whether the newest version of a table can be opened. */
export const opens = (table: Effect.Effect<Table, RagError>): Effect.Effect<boolean, RagError> =>
  table.pipe(
    Effect.flatMap((opened) => selectRows(opened, ["open", "listing rows"], ["_rowid"])),
    Effect.as(true),
    Effect.catchIf(isUnreadable, () => Effect.succeed(false))
  )

/** Sets the newest version of a table aside. The version before it is then the newest. */
export const setVersionAside = (folder: string, table: string): Effect.Effect<void, RagError> =>
  attempt("open", `setting a version of table ${table} aside`, async () => {
    const versions = join(folder, `${table}.lance`, "_versions")
    // Their names count down.
    const [newest, before] = (await readdir(versions)).filter((name) => name.endsWith(".manifest")).toSorted()
    if (newest === undefined || before === undefined)
      throw new Error("it has no other version, damaged or lost")
    await rename(join(versions, newest), join(versions, `${newest}.damaged`))
    await rm(join(versions, "latest_version_hint.json"), { force: true })
  })
