/** The original files of documents, each stored once. */
import { Field, LargeBinary, makeData, Schema, Struct, Utf8 } from "apache-arrow"
import { Clock, Effect } from "effect"
import {
  attempt,
  attemptWrite,
  keyIndex,
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

/** Puts, and files outside the index: a look-up among 1,000 data files takes 75 ms of CPU. */
const INDEX_EVERY = 64
const KEY_INDEX = "sha256_idx"

export type LanceFiles = Effect.Success<ReturnType<typeof openFiles>>

export const openFiles = Effect.fn("LanceFiles.open")(function* (store: Store) {
  const opened = yield* openOnUse(store, { name: "files", schema: filesSchema, key: "sha256" })
  const repaired = repairing(store, opened, (table) => repairRows(table, ["sha256"], "some"))

  let puts = 0
  /** A data file for each put remains until `maintain`. A look-up opens those that are not in the index. */
  const index = Effect.fnUntraced(function* (table: Table) {
    const stats = yield* attempt("store", "reading the index statistics", () => table.indexStats(KEY_INDEX))
    const rows = yield* attempt("store", "counting files", () => table.countRows())
    if (rows - (stats?.numIndexedRows ?? 0) < INDEX_EVERY) return
    yield* attemptWrite("store", "indexing files", () => table.createIndex("sha256", { config: keyIndex() }))
  })

  const put = Effect.fn("LanceFiles.put")(function* (files: ReadonlyMap<string, Uint8Array>) {
    if (files.size === 0) return
    const table = yield* opened
    const touched = yield* Clock.currentTimeMillis
    const rows = toTable(writtenSchema, files.size, [
      utf8([...files.keys()]),
      blobs([...files.values()]),
      times(Array.from(files, () => touched))
    ])
    yield* repaired(
      attemptWrite("store", "storing original files", () => upsert(table, "sha256", rows.batches))
    )
    if (puts++ % INDEX_EVERY === 0) yield* repaired(index(table))
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
        const [row]: ReadonlyArray<Record<string, bigint>> = await query.withRowId().limit(1).toArray()
        if (row === undefined) return undefined
        const [bytes] = await table.fetchBlobs("bytes", [row["_rowid"]!])
        return bytes ?? undefined
      }
    ).pipe(Effect.retry({ times: 3, while: ({ cause }) => MOVED.test(String(cause)) }), repaired)
    if (found === undefined || !isHash || hashOf(found) === sha256) return found
    const message = `A stored file is damaged: it no longer has the SHA-256 ${sha256}. Restore the folder from a copy, or remove the document and ingest it again.`
    return yield* new RagError({ stage: "store", reason: "Store", message })
  })

  /** Drops files that are not in `referenced` and were last written before the grace period. */
  const collect = Effect.fn("LanceFiles.collect")(function* (referenced: ReadonlySet<string>) {
    const table = yield* opened
    const before = (yield* Clock.currentTimeMillis) - GRACE_MILLIS
    const isOld = `touched < ${before}`
    const doing = ["store", "listing old files"] as const
    const old = yield* selectRows<{ sha256: string }>(table, doing, ["sha256"], isOld)
    const unused = old.map(({ sha256 }) => sha256).filter((sha256) => !referenced.has(sha256))
    for (let i = 0; i < unused.length; i += 500) {
      const some = unused.slice(i, i + 500)
      yield* attemptWrite("store", "dropping unused files", () =>
        table.delete(`${isOld} AND ${sqlIn("sha256", some)}`)
      )
    }
    const kept = old.find(({ sha256 }) => referenced.has(sha256))
    if (unused.length === 0 || kept === undefined) return
    // LanceDB does not rewrite a data file of which less than a tenth was deleted. Updating one row makes it do so.
    yield* attemptWrite("store", "compacting files", () =>
      table.update({ where: `sha256 = ${sqlString(kept.sha256)}`, valuesSql: { touched: "touched" } })
    )
  })

  const remove = Effect.fn("LanceFiles.remove")(function* (keys: ReadonlyArray<string>) {
    if (keys.length === 0) return
    const table = yield* opened
    yield* attemptWrite("store", "deleting files", () => table.delete(sqlIn("sha256", keys)))
  })

  const keys = Effect.gen(function* () {
    const rows = yield* selectRows<{ sha256: string }>(yield* opened, ["store", "listing files"], ["sha256"])
    return rows.map(({ sha256 }) => sha256)
  })

  return { put, get, collect, remove, keys, opened }
})

/** A column of LanceDB blobs: bytes, and a URI that is null because the bytes are stored here. */
const blobs = (values: ReadonlyArray<Uint8Array>) => {
  const offsets = new BigInt64Array(values.length + 1)
  values.forEach(({ length }, i) => (offsets[i + 1] = offsets[i]! + BigInt(length)))
  const data = makeData({ type: new LargeBinary(), valueOffsets: offsets, data: Buffer.concat(values) })
  const uris = utf8(values.map(() => null))
  return makeData({ type: BLOB, length: values.length, nullCount: 0, children: [data, uris] })
}
