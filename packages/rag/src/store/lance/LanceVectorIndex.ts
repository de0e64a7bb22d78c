/** When a table is indexed and compacted. */
import { Effect } from "effect"
import type { CollectionStats, IndexStats } from "../PassageIndex.ts"
import type { RagError } from "../../document/RagError.ts"
import {
  atOneVersion,
  attempt,
  attemptWrite,
  keyIndex,
  keywordIndex,
  kindIndex,
  sqlIn,
  type Table,
  vectorIndex
} from "./Lance.ts"
import { type MeasuredIndex, measuredIn } from "./LanceRecall.ts"
import { DOCUMENTS, NO_PASSAGES, PASSAGES } from "./LanceTables.ts"
import { deleteScratch } from "../LanceScratch.ts"

/** Below this many passages, and this many numbers, a scan is as fast as an index. */
const INDEX_FROM = 2_000
const INDEX_FROM_NUMBERS = 1_000_000

/** LanceDB needs this many vectors to train an index. */
const MIN_TRAINING_VECTORS = 256

/**
 * Rows outside the indexes are read at each search: a text takes 85 µs of CPU, because its words are found anew, a vector of 384
 * numbers 2. To add them LanceDB writes the indexes again, which takes 27 µs for each row of the table. They are therefore added
 * if they are this share of the rows, so that an upload costs the same in every collection, …
 */
const UNINDEXED_SHARE = 1 / 16
/** … but from this number on, so that a single question takes a second at most, and not below this one; … */
const MAX_UNINDEXED = 8_192
export const MIN_UNINDEXED = 128
/** … or if the searches since then have read so many texts for each row of the index, which took as long. */
const READ_TEXTS = 1 / 3

/** LanceDB builds an index from so many new rows as fast as it adds them to a smaller one. */
const TRAINED_ROWS = 1_000

/** Each commit, up to 1,000 passages, leaves a small file. More than this many are compacted. */
const MAX_SMALL_FILES = 128

/**
 * Files outside the indexes are joined after so many commits, if so many of them hold the last 256 rows, or the last 2,048: each
 * row is then written again at most 2 × 8 times, and `compact` needs not read the large files.
 */
const JOINED_FILES = 32
const JOINED_ROWS = [256, 2_048]

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

/** Rows outside an index, and all rows. */
export interface UnindexedRows {
  readonly unindexed: number
  readonly rows: number
}

/** Whether they are due to be added to it. `readTexts` are the texts that searches have read outside it. */
export const isOutdated = ({ rows, unindexed }: UnindexedRows, readTexts = 0): boolean =>
  unindexed > MIN_UNINDEXED &&
  (unindexed > Math.min(rows * UNINDEXED_SHARE, MAX_UNINDEXED) || readTexts > rows * READ_TEXTS)

/** The texts that each search for keywords reads. */
export const unindexedTexts = (table: Table): Effect.Effect<UnindexedRows, RagError> =>
  Effect.map(stateOf(table), ({ rows, texts }) => ({ unindexed: texts?.numUnindexedRows ?? 0, rows }))

/**
 * Indexes and compacts after an ingest, if necessary. Searches and writes continue, and find the same before and after.
 * `readTexts` are the texts outside the index that searches have read.
 *
 * `indexed` is true if there is a vector index afterwards, `rebuilt` if it was built now, `scattered` if compacting would make
 * searches faster and take at most seconds. `keysOf` are the rows whose keys `warmKeys` may read, `outside` the texts outside the index afterwards.
 */
export const settleIndex = Effect.fn("LanceVectorIndex.settle")(function* (
  table: Table,
  dimension: number,
  readTexts = 0
) {
  const { fragmentStats, keys, rows: all, texts, vectors } = yield* stateOf(table)
  // Counting the vectors reads all of them, so it is done only where an index may be built.
  const mayTrain = isIndexed(all, dimension) && (vectors === undefined || vectors.numIndexedRows < all / 2)
  const rows = mayTrain ? yield* countVectors(table) : all
  // Training comes before compacting: it reads the vectors file by file, and small files need less memory.
  const train = mayTrain && isIndexed(rows, dimension)
  const trainTexts =
    texts !== undefined && texts.numUnindexedRows > Math.max(TRAINED_ROWS, texts.numIndexedRows)
  const trainKeys = all >= INDEX_KEYS_FROM && (keys?.numIndexedRows ?? 0) < all / 2
  yield* Effect.all(
    [
      trainKeys ? indexKeys(table) : Effect.void,
      train ? trainVectors(table, rows, dimension) : Effect.void,
      trainTexts ? trainKeywords(table) : Effect.void
    ],
    { concurrency: 3, discard: true }
  )
  const unindexed = trainTexts ? 0 : (texts?.numUnindexedRows ?? 0)
  const outdated =
    isOutdated({ unindexed, rows: all }, readTexts) ||
    (!train && isOutdated({ unindexed: vectors?.numUnindexedRows ?? 0, rows: all }))
  const compacts = outdated || fragmentStats.numSmallFragments > MAX_SMALL_FILES
  const files = fragmentStats.numFragments
  const scattered =
    !compacts &&
    files > MAX_FILES &&
    all <= MAX_COMPACTED_ROWS &&
    fragmentStats.lengths.max < LARGEST_SHARE * all
  if (compacts) yield* compact(table)
  else if (!scattered && files % JOINED_FILES === 0) yield* joinFiles(table, unindexed)
  const keysOf = all <= MAX_WARMED_ROWS ? (keys?.numIndexedRows ?? 0) : 0
  const outside: UnindexedRows = { unindexed: compacts ? 0 : unindexed, rows: all }
  return { indexed: train || vectors !== undefined, rebuilt: train, scattered, keysOf, outside }
})

/**
 * Joins the last small files. LanceDB's compaction would write the indexes of all rows again, so the rows are updated to what they
 * are: one commit, which another writer's change of the same rows makes LanceDB repeat.
 */
const joinFiles = Effect.fn("LanceVectorIndex.join")(function* (table: Table, unindexed: number) {
  const documents = yield* attempt("store", "listing small files", () => documentsToJoin(table, unindexed))
  if (documents === undefined) return
  yield* attemptWrite("store", "joining small files", () =>
    table.update({ where: sqlIn("document", documents), valuesSql: { ordinal: "ordinal" } })
  )
})

/** The documents of the files to join. */
const documentsToJoin = (table: Table, unindexed: number): Promise<ReadonlyArray<string> | undefined> =>
  atOneVersion(table, async (pinned) => {
    const rows = await pinned.countRows()
    for (const count of JOINED_ROWS) {
      const offsets = Array.from({ length: Math.min(count, unindexed, rows) }, (_, i) => rows - 1 - i)
      const found: ReadonlyArray<{ readonly document: string; readonly _rowid: bigint }> = await pinned
        .takeOffsets(offsets)
        .select(["document"])
        .withRowId()
        .toArray()
      const read = found.map(({ _rowid, document }) => ({ document, file: _rowid >> FILE_BITS }))
      const first = read.reduce((least, { file }) => (file < least ? file : least), MAX_FILE)
      if (new Set(read.map(({ file }) => file)).size < JOINED_FILES - 1) continue
      // Of the first file, some rows may be before these.
      const joined = offsets.length === unindexed ? read : read.filter(({ file }) => file > first)
      return [...new Set(joined.map(({ document }) => document))]
    }
    return undefined
  })

/** A row address is the number of its file and its place there. */
const FILE_BITS = 32n
const MAX_FILE = 1n << FILE_BITS

/** A million passages and their documents. Larger indexes of documents would take the memory of the others: 48 bytes a row. */
const MAX_WARMED_ROWS = 1_250_000

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

/** Counts, the kind of the vector index, the rows outside the indexes, and the measured recall. */
export const collectionStats = (table: Table): Effect.Effect<CollectionStats, RagError> =>
  attempt("ingest", "reading the index statistics", () =>
    atOneVersion(table, async (pinned) => {
      const [vectors, texts] = [await pinned.indexStats(VECTOR_INDEX), await pinned.indexStats(KEYWORD_INDEX)]
      // Each of the two reads every file outside the index. The number of rows is in the version's description.
      const documents = await pinned.countRows(DOCUMENTS)
      const passages = (await pinned.countRows()) - (await pinned.countRows(NO_PASSAGES))
      const measured = vectors === undefined ? undefined : await measuredIn(pinned)
      const index: IndexStats = {
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
      return { documents, passages, index }
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
