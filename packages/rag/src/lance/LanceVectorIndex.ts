/** When a table gets its vector index, and when it is trained anew. */
import { Effect } from "effect"
import type { RagError } from "../RagError.ts"
import { attempt, attemptWrite, ivfFlat, type Table } from "./Lance.ts"

/** Below this many passages a scan is as fast as an index. */
const INDEX_FROM = 2_000

/** Rows outside the index are scanned at each search; so many are borne before they are taken in. */
const UNINDEXED_AT_MOST = 1_000

/** Small commits leave small files, each of which costs time at every search. */
const FRAGMENTS_AT_MOST = 24

const INDEX_NAME = "vector_idx"

/** After an ingest: sweeps, indexes, compacts, each only where it is due. */
export const settleIndex = Effect.fn("LanceVectorIndex.settle")(function* (table: Table) {
  yield* sweep(table)
  const rows = yield* attempt("ingest", "counting passages", () => table.countRows("`vector` IS NOT NULL"))
  const { fragmentStats } = yield* attempt("ingest", "looking at the table", () => table.stats())
  if (fragmentStats.numSmallFragments > FRAGMENTS_AT_MOST) yield* optimize(table)
  if (rows < INDEX_FROM) return
  const stats = yield* attempt("ingest", "looking at the index", () => table.indexStats(INDEX_NAME))
  if (stats === undefined || stats.numIndexedRows < rows / 2) {
    yield* train(table, rows)
  } else if (stats.numUnindexedRows > UNINDEXED_AT_MOST) {
    yield* optimize(table)
  }
})

/** Compacts, takes everything into the index, and drops versions older than an hour. */
export const maintainIndex = Effect.fn("LanceVectorIndex.maintain")(function* (table: Table) {
  yield* sweep(table)
  const rows = yield* attempt("store", "counting passages", () => table.countRows("`vector` IS NOT NULL"))
  yield* optimize(table, new Date(Date.now() - 60 * 60 * 1000))
  if (rows >= INDEX_FROM) yield* train(table, rows)
})

/** Removes the rows that a replaced document left behind. */
const sweep = (table: Table): Effect.Effect<void, RagError> =>
  Effect.gen(function* () {
    const gone = yield* attempt("ingest", "counting what is gone", () => table.countRows("kind = 'gone'"))
    if (gone > 0) yield* attemptWrite("ingest", "sweeping", () => table.delete("kind = 'gone'"))
  })

const optimize = (table: Table, cleanupOlderThan?: Date): Effect.Effect<void, RagError> =>
  Effect.asVoid(
    attemptWrite("store", "compacting", () => table.optimize(cleanupOlderThan ? { cleanupOlderThan } : {}))
  )

const train = (table: Table, rows: number): Effect.Effect<void, RagError> =>
  attemptWrite("store", "building the vector index", () =>
    table.createIndex("vector", { config: ivfFlat(Math.round(Math.sqrt(rows))) })
  )
