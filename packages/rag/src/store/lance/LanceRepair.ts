/** Damaged tables: which rows can be read, and what is lost with the others. */
import { readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { Array, Effect, Semaphore } from "effect"
import type { RagError } from "../../document/RagError.ts"
import {
  attempt,
  attemptWrite,
  isRemote,
  isUnreadable,
  selectRows,
  sqlIn,
  type Store,
  type Table
} from "./Lance.ts"
import { type DocumentRow, toStored } from "./LanceRows.ts"
import { rebuildIndex, trainKeywords } from "./LanceVectorIndex.ts"

/** Rows that are read or deleted at once. */
const BATCH = 1_000

/** A row's address: the number of its file, and 32 bits for its place there. */
const FILE_BITS = 32n

/** Reads rows by their addresses. Only the files that have them are opened. */
const takeRows = <Row>(
  table: Table,
  ids: ReadonlyArray<bigint>,
  columns: ReadonlyArray<keyof Row & string>
) =>
  attempt("store", "reading rows", (): Promise<ReadonlyArray<Row>> =>
    table
      .takeRowIds(ids)
      .select([...columns])
      .toArray()
  )

/** The addresses of the rows of which all `columns` can be read, and of the others. */
const checkRows = Effect.fn("LanceRepair.check")(function* (table: Table, columns: ReadonlyArray<string>) {
  const readable: Array<bigint> = []
  const unreadable: Array<bigint> = []
  const fails = (ids: ReadonlyArray<bigint>) =>
    takeRows<Record<string, unknown>>(table, ids, columns).pipe(
      Effect.as(false),
      Effect.catchIf(isUnreadable, () => Effect.succeed(true))
    )
  /** Halves rows of a file that cannot be read. If the first and the last cannot, nor can those between: 1.6 ms a try. */
  const check = (ids: ReadonlyArray<bigint>): Effect.Effect<void, RagError> =>
    Effect.gen(function* () {
      if (!(yield* fails(ids))) return void readable.push(...ids)
      if ((yield* fails(ids.slice(0, 1))) && (yield* fails(ids.slice(-1))))
        return void unreadable.push(...ids)
      yield* check(ids.slice(0, ids.length >> 1))
      yield* check(ids.slice(ids.length >> 1))
    })
  const rows = yield* selectRows<{ _rowid: bigint }>(table, ["store", "listing rows"], ["_rowid"])
  const files = Map.groupBy(rows, ({ _rowid }) => _rowid >> FILE_BITS)
  for (const own of files.values())
    for (const some of Array.chunksOf(own, BATCH)) yield* check(some.map(({ _rowid }) => _rowid))
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

/** Whether unreadable rows are deleted: always, never, or only if others can be read. */
export type Drops = "all" | "none" | "some"

/** Says how many rows of a table cannot be read, and deletes them as `drops` says. */
export const repairRows = Effect.fn("LanceRepair.rows")(function* (
  table: Table,
  columns: ReadonlyArray<string>,
  drops: Drops
) {
  const { readable, unreadable } = yield* checkRows(table, columns)
  const deletes = drops === "all" || (drops === "some" && readable.length > 0)
  for (const ids of deletes ? Array.chunksOf(unreadable, BATCH) : [])
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

/** Says what is damaged in a collection. Unless `drops` is `none`, it is deleted, and the indexes are built again. */
export const repairCollection = Effect.fn("LanceRepair.collection")(function* (
  table: Table,
  dimension: number,
  drops: Drops
) {
  const { names } = yield* attempt("store", "reading the columns", () => table.schema())
  const { faults, readable } = yield* repairRows(table, names.map(String), drops)
  const rows = yield* takeAll<RepairRow>(table, readable, ["document", "kind", "metadata", "path"])
  const documents = documentsOf(rows)
  const lost = documents.filter(({ lacks }) => lacks === undefined)
  if (drops !== "none") {
    const ids = lost.map(({ id }) => id)
    for (const some of Array.chunksOf(ids, BATCH))
      yield* attemptWrite("store", "deleting lost documents", () => table.delete(sqlIn("document", some)))
    yield* trainKeywords(table)
    yield* rebuildIndex(table, dimension)
  }
  const incomplete = documents.filter(({ lacks = 0 }) => lacks !== 0)
  return {
    faults: [
      ...faults,
      ...lost.map(({ path }) => `${path} is lost`),
      ...incomplete.map(({ path }) => `${path} lacks passages; a rebuild makes them again`)
    ]
  }
})

/** LanceDB's message about a file of a version that another process dropped during the call, or of a lost one. */
const isDropped = ({ cause }: RagError): boolean => /not found|no such file/i.test(String(cause))

/**
 * Runs a call again: at the latest version if its version was dropped meanwhile, and after a repair if it fails because of a
 * damaged file, which then costs only its own rows. Each version of a table is repaired once.
 */
export const repairing = (
  { folder }: Store,
  table: Effect.Effect<Table, RagError>,
  repair: (table: Table) => Effect.Effect<{ readonly faults: ReadonlyArray<string> }, RagError>
) => {
  // An object store's failures may be temporary.
  const isDamage = (error: RagError) => !isRemote(folder) && isUnreadable(error)
  const turn = Semaphore.makeUnsafe(1)
  let repaired: number | undefined
  const repairOnce = Effect.gen(function* () {
    const opened = yield* table
    const version = attempt("store", "reading the version", () => opened.version())
    const found = yield* version
    if (found === repaired) return
    repaired = found
    const { faults } = yield* repair(opened)
    repaired = yield* version
    yield* Effect.logError(`A damaged table was repaired: ${faults.join("; ") || "its indexes"}`)
  }).pipe(turn.withPermit)
  return <A>(call: Effect.Effect<A, RagError>): Effect.Effect<A, RagError> =>
    Effect.retry(call, { times: 1, while: isDropped }).pipe(
      Effect.catchIf(isDamage, (error) =>
        repairOnce.pipe(
          Effect.mapError(() => error),
          Effect.andThen(call)
        )
      )
    )
}

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
