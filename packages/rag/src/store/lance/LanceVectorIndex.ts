/** When a table's indexes take in what was written, and when it is compacted. */
import { Effect } from "effect"
import type { IndexStats } from "../PassageIndex.ts"
import type { RagError } from "../../document/RagError.ts"
import { attempt, attemptWrite, keywordIndex, type Table, vectorIndex } from "./Lance.ts"
import { measuredIndex } from "./LanceRecall.ts"
import { dropScratch } from "./LanceScratch.ts"

/** Below this many passages, or this many numbers, a scan is as fast as an index. */
const INDEX_FROM = 2_000
const INDEX_FROM_NUMBERS = 1_000_000

/** LanceDB learns its codes from so many vectors. */
const TRAINED_BY = 256

/** Rows outside the index are scanned at each search; so many are borne before they are taken in. */
const UNINDEXED_AT_MOST = 1_000

/** The same for keywords, whose scan segments every text: 37 ms a thousand. */
const UNINDEXED_TEXTS_AT_MOST = 128

/** Each commit leaves a small file; so many are borne before they are joined. A commit of 1,000 passages is one. */
const SMALL_FILES_AT_MOST = 128

/**
 * A search reads from each file in which it finds something. 11 files cost 1.7 ms of 9.1 and 3.5 of 12.5 ms of CPU at
 * 11,271 rows (p50), and are joined in half a second …
 */
const FILES_AT_MOST = 8
/** … which is worth it while the largest holds less than so much of all rows: then each row is written a few times in all … */
const LARGEST_SHARE = 0.75
/** … and where it takes seconds. Of more, `maintain` joins them. */
const JOINED_ROWS_AT_MOST = 250_000

export const VECTOR_INDEX = "vector_idx"
const KEYWORD_INDEX = "search_idx"

const isIndexed = (rows: number, dimension: number): boolean =>
  rows >= TRAINED_BY && (rows >= INDEX_FROM || rows * dimension >= INDEX_FROM_NUMBERS)

/**
 * After an ingest: indexes and compacts, each only where it is due. Searches and writes go on meanwhile; what they find
 * is the same before and after.
 *
 * Says whether vectors have an index now, and whether it was made anew.
 */
export const settleIndex = Effect.fn("LanceVectorIndex.settle")(function* (table: Table, dimension: number) {
  const [rows, texts, known] = yield* Effect.all(
    [countVectors(table), statsOf(table, KEYWORD_INDEX), statsOf(table, VECTOR_INDEX)],
    { concurrency: 3 }
  )
  const vectors = isIndexed(rows, dimension) ? known : undefined
  // An index made anew is made once; one that is brought up to date is made of joined files.
  // Before compacting: training reads the vectors file by file, and small files need less memory.
  const train = isIndexed(rows, dimension) && (vectors === undefined || vectors.numIndexedRows < rows / 2)
  const anew =
    texts !== undefined && texts.numUnindexedRows > Math.max(UNINDEXED_AT_MOST, texts.numIndexedRows)
  yield* Effect.all(
    [train ? trainVectors(table, rows, dimension) : Effect.void, anew ? trainKeywords(table) : Effect.void],
    { concurrency: 2, discard: true }
  )
  const due =
    (!train && (vectors?.numUnindexedRows ?? 0) > UNINDEXED_AT_MOST) ||
    (!anew && (texts?.numUnindexedRows ?? 0) > UNINDEXED_TEXTS_AT_MOST)
  const { fragmentStats } = yield* attempt("ingest", "looking at the files", () => table.stats())
  if (due || fragmentStats.numSmallFragments > SMALL_FILES_AT_MOST) yield* compact(table)
  return { indexed: train || vectors !== undefined, anew: train }
})

/** Whether searches would be faster for it if the files were joined, and that does not take long. */
export const isScattered = Effect.fn("LanceVectorIndex.isScattered")(function* (table: Table) {
  const { fragmentStats, numRows } = yield* attempt("ingest", "looking at the files", () => table.stats())
  return (
    fragmentStats.numFragments > FILES_AT_MOST &&
    numRows <= JOINED_ROWS_AT_MOST &&
    fragmentStats.lengths.max < LARGEST_SHARE * numRows
  )
})

/** Takes everything into indexes made anew, and compacts. */
export const maintainIndex = Effect.fn("LanceVectorIndex.maintain")(function* (
  table: Table,
  dimension: number
) {
  const rows = yield* countVectors(table)
  const train = isIndexed(rows, dimension)
  if (train) yield* trainVectors(table, rows, dimension)
  yield* compact(table)
  return train
})

/** Removes the rows that a replaced document left behind. */
export const sweep = (table: Table): Effect.Effect<void, RagError> =>
  Effect.gen(function* () {
    const gone = yield* attempt("ingest", "counting what is gone", () => table.countRows("kind = 'gone'"))
    if (gone > 0) yield* attemptWrite("ingest", "sweeping", () => table.delete("kind = 'gone'"))
  })

/** What the indexes are, and what they leave to a scan. */
export const indexStats = Effect.fn("LanceVectorIndex.stats")(function* (table: Table) {
  const [vectors, texts] = yield* Effect.all([statsOf(table, VECTOR_INDEX), statsOf(table, KEYWORD_INDEX)], {
    concurrency: 2
  })
  // Counting them takes as long as all else here together; where the indexes have everything, there is nothing to count.
  const whole = vectors?.numUnindexedRows === 0 && texts?.numUnindexedRows === 0
  const rows = whole ? 0 : yield* countVectors(table)
  const measured = vectors === undefined ? undefined : yield* measuredIndex(table)
  const stats: IndexStats = {
    kind: vectors === undefined ? "exact" : vectors.indexType,
    unindexed: vectors === undefined ? rows : Math.min(rows, vectors.numUnindexedRows),
    unindexedTexts: Math.min(rows, texts?.numUnindexedRows ?? 0),
    ...(measured === undefined
      ? {}
      : {
          extra: measured.extra,
          recall: measured.recall,
          measuredAt: measured.rows,
          measuredWith: measured.questions
        })
  }
  return stats
})

const countVectors = (table: Table): Effect.Effect<number, RagError> =>
  attempt("ingest", "counting passages", () => table.countRows("vector IS NOT NULL"))

const statsOf = (table: Table, index: string) =>
  attempt("ingest", "looking at the index", () => table.indexStats(index))

/** Joins small files, drops deleted rows, and takes what is not indexed yet into the indexes. */
export const compact = (table: Table): Effect.Effect<void, RagError> =>
  Effect.asVoid(attemptWrite("store", "compacting", () => table.optimize(KEEP_VERSIONS)))

/** `pruneVersions` alone knows which are to be kept. */
const KEEP_VERSIONS = { cleanupOlderThan: new Date(0) }

const trainVectors = (table: Table, rows: number, dimension: number): Effect.Effect<void, RagError> =>
  attemptWrite("store", "building the vector index", () =>
    table.createIndex("vector", { config: vectorIndex(rows, dimension) })
  ).pipe(Effect.andThen(dropScratch))

const trainKeywords = (table: Table): Effect.Effect<void, RagError> =>
  attemptWrite("store", "building the keyword index", () =>
    table.createIndex("search", { config: keywordIndex() })
  )
