/** When a table is indexed and compacted. */
import { Effect } from "effect"
import type { IndexStats } from "../PassageIndex.ts"
import type { RagError } from "../../document/RagError.ts"
import {
  atOneVersion,
  attempt,
  attemptWrite,
  keyIndex,
  keywordIndex,
  kindIndex,
  type Table,
  vectorIndex
} from "./Lance.ts"
import { type MeasuredIndex, measuredIn } from "./LanceRecall.ts"
import { PASSAGES } from "./LanceTables.ts"
import { deleteScratch } from "../LanceScratch.ts"

/** Below this many passages, and this many numbers, a scan is as fast as an index. */
const INDEX_FROM = 2_000
const INDEX_FROM_NUMBERS = 1_000_000

/** LanceDB needs this many vectors to train an index. */
const MIN_TRAINING_VECTORS = 256

/** Rows outside the index are scanned at each search. More than this many are added to the index. */
const MAX_UNINDEXED = 1_000

/** The same for keywords: the scan segments every text, 37 ms per thousand. */
const MAX_UNINDEXED_TEXTS = 128

/** Each commit, up to 1,000 passages, leaves a small file. More than this many are compacted. */
const MAX_SMALL_FILES = 128

/**
 * A search reads from each file in which it finds something: 11 files cost 1.7 of 9.1 ms and 3.5 of 12.5 ms of CPU at
 * 11,271 rows (p50), and are compacted in half a second …
 */
const MAX_FILES = 8
/** … if the largest has less than this share of the rows, so that each row is rewritten only a few times … */
const LARGEST_SHARE = 0.75
/** … and the table has at most this many rows. Larger ones are compacted by `maintain`. */
const MAX_COMPACTED_ROWS = 250_000

/** Below this many rows, reading the keys of all of them costs less than reading an index: 25 bytes a row. */
const INDEX_KEYS_FROM = 5_000

/**
 * A merge compares identifiers, a look-up finds a document's rows, and counts are by kind: without an index each reads the
 * column of all rows.
 */
const KEY_INDEXES = [
  ["id", keyIndex],
  ["document", keyIndex],
  ["kind", kindIndex]
] as const

export const VECTOR_INDEX = "vector_idx"
const KEYWORD_INDEX = "search_idx"
const DOCUMENT_INDEX = "document_idx"

const isIndexed = (rows: number, dimension: number): boolean =>
  rows >= MIN_TRAINING_VECTORS && (rows >= INDEX_FROM || rows * dimension >= INDEX_FROM_NUMBERS)

/** What decides whether a table is indexed and compacted, of one version. */
const stateOf = (table: Table) =>
  attempt("ingest", "reading the statistics", () =>
    atOneVersion(table, async (pinned) => {
      const names = [DOCUMENT_INDEX, KEYWORD_INDEX, VECTOR_INDEX]
      const [keys, texts, vectors] = await Promise.all(names.map((name) => pinned.indexStats(name)))
      const { fragmentStats, numRows: rows } = await pinned.stats()
      return { rows, keys, texts, vectors, fragmentStats }
    })
  )

/**
 * Indexes and compacts after an ingest, if necessary. Searches and writes continue, and find the same before and after.
 *
 * `indexed` is true if there is a vector index afterwards, `rebuilt` if it was built now, `scattered` if compacting would make
 * searches faster and take at most seconds. `keysOf` are the rows whose keys `warmKeys` may read.
 */
export const settleIndex = Effect.fn("LanceVectorIndex.settle")(function* (table: Table, dimension: number) {
  const { fragmentStats, keys, rows: all, texts, vectors } = yield* stateOf(table)
  // Counting the vectors reads all of them, so it is done only where an index may be built.
  const mayTrain = isIndexed(all, dimension) && (vectors === undefined || vectors.numIndexedRows < all / 2)
  const rows = mayTrain ? yield* countVectors(table) : all
  // Training comes before compacting: it reads the vectors file by file, and small files need less memory.
  const train = mayTrain && isIndexed(rows, dimension)
  const trainTexts =
    texts !== undefined && texts.numUnindexedRows > Math.max(MAX_UNINDEXED, texts.numIndexedRows)
  const trainKeys = all >= INDEX_KEYS_FROM && (keys?.numIndexedRows ?? 0) < all / 2
  yield* Effect.all(
    [
      trainKeys ? indexKeys(table) : Effect.void,
      train ? trainVectors(table, rows, dimension) : Effect.void,
      trainTexts ? trainKeywords(table) : Effect.void
    ],
    { concurrency: 3, discard: true }
  )
  const outdated =
    (!train && (vectors?.numUnindexedRows ?? 0) > MAX_UNINDEXED) ||
    (!trainTexts && (texts?.numUnindexedRows ?? 0) > MAX_UNINDEXED_TEXTS)
  const compacts = outdated || fragmentStats.numSmallFragments > MAX_SMALL_FILES
  if (compacts) yield* compact(table)
  const scattered =
    !compacts &&
    fragmentStats.numFragments > MAX_FILES &&
    all <= MAX_COMPACTED_ROWS &&
    fragmentStats.lengths.max < LARGEST_SHARE * all
  const keysOf = all <= MAX_WARMED_ROWS ? (keys?.numIndexedRows ?? 0) : 0
  return { indexed: train || vectors !== undefined, rebuilt: train, scattered, keysOf }
})

/** Larger indexes of documents would take the memory of the others: 48 bytes a row. */
const MAX_WARMED_ROWS = 1_000_000

/**
 * Reads the index of documents into memory: 6 bytes a row, where each of the next look-ups would read 86 KB of it in three
 * requests. A compaction, after 128 passages, writes another index.
 */
export const warmKeys = (table: Table): Effect.Effect<void, RagError> =>
  attempt("ingest", "reading the index of documents", () => table.prewarmIndex(DOCUMENT_INDEX))

/** Compacts, and builds the vector index again, which reads all vectors. True if the index is another one. */
export const rebuildIndex = Effect.fn("LanceVectorIndex.rebuild")(function* (
  table: Table,
  dimension: number
) {
  const rows = yield* countVectors(table)
  const train = isIndexed(rows, dimension)
  if (train) yield* trainVectors(table, rows, dimension)
  yield* compact(table)
  return train
})

/** Compacts, and builds the index again if a tenth of the passages came or went since it was measured. */
export const maintainIndex = Effect.fn("LanceVectorIndex.maintain")(function* (
  table: Table,
  dimension: number,
  measured: MeasuredIndex | undefined
) {
  const passages = yield* countPassages(table)
  const change = Math.abs(passages - (measured?.rows ?? 0))
  if (measured === undefined || change > passages / REBUILT_SHARE)
    return yield* rebuildIndex(table, dimension)
  yield* compact(table)
  return change > 0
})
const REBUILT_SHARE = 10

/** Removes the rows that a replaced document left behind. */
export const sweep = (table: Table): Effect.Effect<void, RagError> =>
  Effect.gen(function* () {
    const gone = "kind = 'gone'"
    const removed = yield* attempt("ingest", "counting removed passages", () => table.countRows(gone))
    if (removed > 0) yield* attemptWrite("ingest", "deleting removed passages", () => table.delete(gone))
  })

/** The kind of the vector index, the rows outside the indexes, and the measured recall. */
export const indexStats = (table: Table): Effect.Effect<IndexStats, RagError> =>
  attempt("ingest", "reading the index statistics", () =>
    atOneVersion(table, async (pinned) => {
      const [vectors, texts] = [await pinned.indexStats(VECTOR_INDEX), await pinned.indexStats(KEYWORD_INDEX)]
      const passages = await pinned.countRows(PASSAGES)
      const measured = vectors === undefined ? undefined : await measuredIn(pinned)
      return {
        kind: vectors?.indexType ?? "exact",
        unindexed: Math.min(passages, vectors?.numUnindexedRows ?? passages),
        unindexedTexts: Math.min(passages, texts?.numUnindexedRows ?? 0),
        ...(measured && {
          extra: measured.extra,
          recall: measured.recall,
          measuredAt: measured.rows,
          measuredWith: measured.questions
        })
      }
    })
  ).pipe(Effect.withSpan("LanceVectorIndex.stats"))

const countRows = (table: Table, where: string): Effect.Effect<number, RagError> =>
  attempt("ingest", "counting passages", () => table.countRows(where))

/** Reads every vector: a second of CPU for a million. */
const countVectors = (table: Table) => countRows(table, "vector IS NOT NULL")

/** Reads one byte and a half of each passage at most. */
export const countPassages = (table: Table) => countRows(table, PASSAGES)

/** Merges small files, drops deleted rows, and adds the rest to the indexes. */
export const compact = (table: Table): Effect.Effect<void, RagError> =>
  Effect.asVoid(attemptWrite("store", "compacting", () => table.optimize(KEEP_VERSIONS)))

/** Keeps all versions: only `pruneVersions` knows which may go. */
const KEEP_VERSIONS = { cleanupOlderThan: new Date(0) }

const trainVectors = (table: Table, rows: number, dimension: number): Effect.Effect<void, RagError> =>
  attemptWrite("store", "building the vector index", () =>
    table.createIndex("vector", { config: vectorIndex(rows, dimension) })
  ).pipe(Effect.andThen(deleteScratch))

const indexKeys = (table: Table): Effect.Effect<void, RagError> =>
  Effect.forEach(
    KEY_INDEXES,
    ([column, config]) =>
      attemptWrite("store", `indexing the column ${column}`, () =>
        table.createIndex(column, { config: config() })
      ),
    { discard: true }
  )

export const trainKeywords = (table: Table): Effect.Effect<void, RagError> =>
  attemptWrite("store", "building the keyword index", () =>
    table.createIndex("search", { config: keywordIndex() })
  )
