/** The original files of documents, and their crops. */
import { Field, LargeBinary, makeData, type RecordBatch, Schema, Struct, Utf8 } from "apache-arrow"
import { Array as Arrays, Clock, Effect } from "effect"
import { LRUCache } from "lru-cache"
import {
  append,
  attempt,
  attemptWrite,
  keyIndex,
  openOnce,
  openOnUse,
  selectRows,
  sqlIn,
  sqlString,
  type Store,
  type Table,
  upsert
} from "./Lance.ts"
import { repairing, repairRows } from "./LanceRepair.ts"
import { times, toTable, utf8 } from "./LanceRows.ts"
import { GRACE_MILLIS } from "../LanceScratch.ts"
import { filesSchema } from "./LanceTables.ts"
import { sha256 as hashOf } from "../../document/Hash.ts"
import { RagError } from "../../document/RagError.ts"
import type { Collection } from "../PassageIndex.ts"

/** LanceDB's messages about a row that was rewritten, or a file that was dropped, since the row was found. */
const MOVED = /do not exist in the table|not found/i

/** LanceDB's own blob type comes from another copy of Arrow, which this one cannot write. */
const BLOB = new Struct([new Field("data", new LargeBinary(), true), new Field("uri", new Utf8(), true)])
const writtenSchema = new Schema(
  filesSchema.fields.map((field) =>
    field.name === "bytes" ? new Field("bytes", BLOB, true, field.metadata) : field
  )
)

/**
 * Each put leaves a data file, and each version of the table names all of them: 87 bytes each. After so many data files of at most
 * so many originals and bytes, they are joined.
 */
const JOINED = 64
const JOINED_FILES = 32
const JOINED_BYTES = 64 * 1024

/** Puts between two looks at the index. It is written again, 43 bytes a file, if this share of the files is outside. */
const INDEX_EVERY = 64
const UNINDEXED_SHARE = 1 / 16
/** A look-up reads the keys of those. */
const MAX_UNINDEXED = 4_096
const KEY_INDEX = "sha256_idx"

/** A file that this process added within the hour is not stored again: pictures are in many documents. It stays for a day. */
const ADDED_MILLIS = 60 * 60 * 1000
const ADDED_KEYS = 10_000

/** After a write so long ago, others may have made so many versions that reading each costs more than their list. */
const RECENT_MILLIS = 60 * 1000

interface FileRow {
  readonly sha256: string
  readonly touched: number
  readonly _rowid: bigint
}

export type LanceFiles = Effect.Success<ReturnType<typeof openFiles>>

export const openFiles = Effect.fn("LanceFiles.open")(function* (store: Store) {
  const opened = yield* openOnUse(store, { name: "files", schema: filesSchema, key: "sha256" })
  const written = yield* openOnce(
    Effect.andThen(
      opened,
      attempt("open", "opening table files", () => store.writing.openTable("files"))
    )
  )
  /** When this process added a file last. */
  const added = new LRUCache<string, number>({ max: ADDED_KEYS })
  const repaired = repairing(store, opened, (table) => {
    added.clear()
    return repairRows(table, ["sha256"], "some")
  })

  let last = -Infinity
  let puts = 0
  const toJoin = countSmallPuts()

  const write = Effect.fnUntraced(function* (
    files: ReadonlyMap<string, Uint8Array>,
    touched: number,
    writeTo: (table: Table, rows: ReadonlyArray<RecordBatch>) => Promise<unknown>
  ) {
    if (files.size === 0) return
    const table = yield* opened
    const rows = toTable(writtenSchema, files.size, [
      utf8([...files.keys()]),
      blobs([...files.values()]),
      times(Array.from(files, () => touched))
    ])
    const to = yield* written
    yield* repaired(attemptWrite("store", "storing original files", () => writeTo(to, rows.batches)))
    last = touched
    const keys = toJoin(files)
    if (keys.length > 0) yield* repaired(joinFiles(table, keys))
    if (puts++ % INDEX_EVERY === 0) yield* repaired(indexKeys(table))
  })

  /** Replaces files of the same keys. */
  const put = Effect.fn("LanceFiles.put")(function* (files: ReadonlyMap<string, Uint8Array>) {
    yield* write(files, yield* Clock.currentTimeMillis, (table, rows) => upsert(table, "sha256", rows))
  })

  /**
   * Adds files whose key says their content. A look-up among many would read 240 KB of the index, so a file that another process
   * or an earlier hour has stored is there twice, until `collect` drops one a day later.
   */
  const add = Effect.fn("LanceFiles.add")(function* (files: ReadonlyMap<string, Uint8Array>) {
    const now = yield* Clock.currentTimeMillis
    const missing = [...files].filter(([key]) => now - (added.get(key) ?? -Infinity) >= ADDED_MILLIS)
    const isRecent = now - last < RECENT_MILLIS
    yield* write(new Map(missing), now, (table, rows) => append(table, rows, isRecent))
    for (const [key] of missing) added.set(key, now)
  })

  const get: Collection["original"] = Effect.fn("LanceFiles.get")(function* (sha256, isHash = true) {
    const table = yield* opened
    const found = yield* attempt(
      "store",
      "reading an original file",
      async (): Promise<Uint8Array | undefined> => {
        const query = table
          .query()
          .where(`sha256 = ${sqlString(sha256)}`)
          .select(["sha256"])
        const rows: ReadonlyArray<Record<string, bigint>> = await query.withRowId().toArray()
        // The last one: a file that was damaged is stored again.
        const [last] = rows.map((row) => row["_rowid"]!).toSorted((a, b) => (a < b ? 1 : -1))
        if (last === undefined) return undefined
        const [bytes] = await table.fetchBlobs("bytes", [last])
        return bytes ?? undefined
      }
    ).pipe(Effect.retry({ times: 3, while: ({ cause }) => MOVED.test(String(cause)) }), repaired)
    if (found !== undefined && (!isHash || hashOf(found) === sha256)) return found
    added.delete(sha256)
    if (found === undefined) return undefined
    const message = `A stored file is damaged: it no longer has the SHA-256 ${sha256}. Restore the folder from a copy, or remove the document and ingest it again.`
    return yield* new RagError({ stage: "store", reason: "Damaged", message })
  })

  const collect = (referenced: ReadonlySet<string>) =>
    Effect.flatMap(opened, (table) => collectFiles(table, referenced, added))

  const remove = Effect.fn("LanceFiles.remove")(function* (keys: ReadonlyArray<string>) {
    if (keys.length === 0) return
    const table = yield* opened
    yield* attemptWrite("store", "deleting files", () => table.delete(sqlIn("sha256", keys)))
  })

  const keys = Effect.gen(function* () {
    const rows = yield* selectRows<{ sha256: string }>(yield* opened, ["store", "listing files"], ["sha256"])
    return rows.map(({ sha256 }) => sha256)
  })

  return { add, put, get, collect, remove, keys, opened }
})

/** Counts the small puts of this process. Returns the keys of all of them once there are many, and begins anew. */
const countSmallPuts = () => {
  let puts = 0
  const small = new Set<string>()
  return (files: ReadonlyMap<string, Uint8Array>): ReadonlyArray<string> => {
    const size = [...files.values()].reduce((sum, { length }) => sum + length, 0)
    if (files.size > JOINED_FILES || size > JOINED_BYTES) return []
    for (const key of files.keys()) small.add(key)
    if (++puts < JOINED) return []
    const keys = [...small]
    puts = 0
    small.clear()
    return keys
  }
}

/** LanceDB's compaction would read all originals, so the rows are updated to what they are. */
const joinFiles = (table: Table, keys: ReadonlyArray<string>) =>
  attemptWrite("store", "joining files", () =>
    table.update({ where: sqlIn("sha256", keys), valuesSql: { touched: "touched" } })
  )

const indexKeys = Effect.fnUntraced(function* (table: Table) {
  const stats = yield* attempt("store", "reading the index statistics", () => table.indexStats(KEY_INDEX))
  const rows = yield* attempt("store", "counting files", () => table.countRows())
  const unindexed = rows - (stats?.numIndexedRows ?? 0)
  if (unindexed < Math.max(INDEX_EVERY, Math.min(rows * UNINDEXED_SHARE, MAX_UNINDEXED))) return
  yield* attemptWrite("store", "indexing files", () => table.createIndex("sha256", { config: keyIndex() }))
})

/** Drops files that are not in `referenced`, and all but one of those with the same key, a day after they were written. */
const collectFiles = Effect.fn("LanceFiles.collect")(function* (
  table: Table,
  referenced: ReadonlySet<string>,
  added: LRUCache<string, number>
) {
  const before = (yield* Clock.currentTimeMillis) - GRACE_MILLIS
  const columns = ["sha256", "touched", "_rowid"] as const
  const rows = yield* selectRows<FileRow>(table, ["store", "listing files"], columns)
  const last = new Map(rows.map((row) => [row.sha256, row]))
  const isKept = (row: FileRow) => referenced.has(row.sha256) && last.get(row.sha256) === row
  const old = rows.filter(({ touched }) => touched < before)
  const unused = old.filter((row) => !isKept(row))
  for (const some of Arrays.chunksOf(unused, 500)) {
    for (const { sha256 } of some) added.delete(sha256)
    // Of a row that was moved since, the address is gone.
    yield* attemptWrite("store", "dropping unused files", () =>
      table.delete(`touched < ${before} AND _rowid IN (${some.map(({ _rowid }) => _rowid).join(", ")})`)
    )
  }
  const kept = old.find(isKept)
  if (unused.length === 0 || kept === undefined) return
  // LanceDB does not rewrite a data file of which less than a tenth was deleted. Updating one row makes it do so.
  yield* attemptWrite("store", "compacting files", () =>
    table.update({ where: `sha256 = ${sqlString(kept.sha256)}`, valuesSql: { touched: "touched" } })
  )
})

/** A column of LanceDB blobs: bytes, and a URI that is null because the bytes are stored here. */
const blobs = (values: ReadonlyArray<Uint8Array>) => {
  const offsets = new BigInt64Array(values.length + 1)
  values.forEach(({ length }, i) => (offsets[i + 1] = offsets[i]! + BigInt(length)))
  const data = makeData({ type: new LargeBinary(), valueOffsets: offsets, data: Buffer.concat(values) })
  const uris = utf8(values.map(() => null))
  return makeData({ type: BLOB, length: values.length, nullCount: 0, children: [data, uris] })
}
