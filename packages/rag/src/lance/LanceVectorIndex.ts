/** When a table's indexes take in what was written, and when it is compacted. */
import { Clock, Effect } from "effect"
import type { RagError } from "../RagError.ts"
import { attempt, attemptWrite, type Table, vectorIndex } from "./Lance.ts"

/** Below this many passages a scan is as fast as an index. */
const INDEX_FROM = 2_000

/** Rows outside the index are scanned at each search; so many are borne before they are taken in. */
const UNINDEXED_AT_MOST = 1_000

/** Each commit leaves a small file; so many are borne before they are joined. A commit of 1,000 passages is one. */
const SMALL_FILES_AT_MOST = 128

/** Versions that a reader may still be using are kept so long. */
const VERSIONS_MILLIS = 60 * 60 * 1000

/** The same for keywords, whose scan segments every text: 37 ms a thousand. */
const UNINDEXED_TEXTS_AT_MOST = 128

const VECTOR_INDEX = "vector_idx"
const KEYWORD_INDEX = "search_idx"

/** After an ingest: sweeps, indexes, compacts, each only where it is due. */
export const settleIndex = Effect.fn("LanceVectorIndex.settle")(function* (table: Table, dimension: number) {
  yield* sweep(table)
  const rows = yield* attempt("ingest", "counting passages", () => table.countRows("vector IS NOT NULL"))
  if (rows >= INDEX_FROM) {
    const stats = yield* attempt("ingest", "looking at the index", () => table.indexStats(VECTOR_INDEX))
    // Before compacting: training reads the vectors file by file, and small files need less memory.
    if (stats === undefined || stats.numIndexedRows < rows / 2) yield* train(table, rows, dimension)
    else if (stats.numUnindexedRows > UNINDEXED_AT_MOST) return yield* optimize(table)
  }
  const texts = yield* attempt("ingest", "looking at the index", () => table.indexStats(KEYWORD_INDEX))
  if ((texts?.numUnindexedRows ?? 0) > UNINDEXED_TEXTS_AT_MOST) return yield* optimize(table)
  const { fragmentStats } = yield* attempt("ingest", "looking at the files", () => table.stats())
  if (fragmentStats.numSmallFragments > SMALL_FILES_AT_MOST) yield* optimize(table)
})

/** Compacts, takes everything into the index, and drops versions that nobody reads any more. */
export const maintainIndex = Effect.fn("LanceVectorIndex.maintain")(function* (
  table: Table,
  dimension: number
) {
  yield* sweep(table)
  const rows = yield* attempt("store", "counting passages", () => table.countRows("vector IS NOT NULL"))
  if (rows >= INDEX_FROM) yield* train(table, rows, dimension)
  yield* optimize(table, new Date((yield* Clock.currentTimeMillis) - VERSIONS_MILLIS))
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

const train = (table: Table, rows: number, dimension: number): Effect.Effect<void, RagError> =>
  attemptWrite("store", "building the vector index", () =>
    table.createIndex("vector", { config: vectorIndex(rows, dimension) })
  )
