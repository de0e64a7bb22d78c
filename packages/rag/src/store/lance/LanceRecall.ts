/** The recall of the vector index, measured with the collection's own vectors and stored with the table. */
import { Clock, Effect } from "effect"
import type { RagError } from "../../document/RagError.ts"
import { attempt, attemptWrite, nearestTo, type Table } from "./Lance.ts"
import { hasDirection } from "./LanceRows.ts"
import { PASSAGES } from "./LanceTables.ts"

export interface MeasuredIndex {
  /** Passages beyond the limit whose exact cosine is computed. */
  readonly extra: number
  /** recall@20 with `extra`, 0 to 1. */
  readonly recall: number
  readonly questions: number
  /** Passages in the index when it was measured. */
  readonly rows: number
  /** Milliseconds since 1970. */
  readonly measured: number
}

/** Recall is measured for this many nearest passages. */
const RECALL_AT = 20

/** The recall to reach, relative to an exact search. */
const TARGET = 0.97

/**
 * Start values of `extra`. Short lexical questions find .988 of the 20 nearest with 20 extra among 10,771 passages, but .973
 * among 107,999; with 40 extra .994. Passages as questions find all of them in both cases, so measuring does not show it.
 */
const EXTRA = 40
const EXTRA_OF_SMALL = 20
const SMALL_ROWS = 32_768

/**
 * How many passages get an exact cosine for a limit: enough for the nearest 20, and a quarter more than a large limit.
 * Each costs the reading of its vector.
 */
export const candidates = (limit: number, measured: MeasuredIndex | undefined): number =>
  Math.max(limit > 2 * RECALL_AT ? Math.ceil(limit * 1.25) : limit, RECALL_AT + (measured?.extra ?? EXTRA))

/** From the cheapest to the most thorough. */
const EXTRAS = [EXTRA_OF_SMALL, EXTRA, 80, 160, 320, 640]

const QUESTIONS = 16

/**
 * An exact search reads every vector. Above this many passages, the best of `COMPARED` by their codes stand for the nearest: each
 * question reads so many vectors once, whatever the size.
 */
const SCANNED_ROWS = 65_536
const COMPARED = 1_280

/** Stored in the metadata of the column. A row would be outside the index and double the time of a search. */
const KEY = "sluice:recall"

export const measuredIn = async (table: Table): Promise<MeasuredIndex | undefined> => {
  const { fields } = await table.schema()
  const json = fields.find(({ name }) => name === "vector")?.metadata.get(KEY)
  return json === undefined ? undefined : JSON.parse(json)
}

export const measuredIndex = (table: Table): Effect.Effect<MeasuredIndex | undefined, RagError> =>
  attempt("store", "reading the measured recall", () => measuredIn(table))

/**
 * Stores the smallest `extra` that reaches the target, or the largest.
 *
 * **Details.** Everything is measured at one version. A compaction by another writer moves rows, and the addresses of two
 * versions have nothing in common.
 */
export const measureIndex = (
  table: Table,
  openAt: (version: number) => Promise<Table>,
  scannedRows = SCANNED_ROWS
) => {
  const open = attempt("store", "opening the version to measure", async () => openAt(await table.version()))
  return Effect.acquireUseRelease(
    open,
    (pinned) => measureVersion(pinned, table, scannedRows),
    (pinned) => Effect.sync(() => pinned.close())
  )
}

const measureVersion = Effect.fn("LanceRecall.measure")(function* (
  pinned: Table,
  current: Table,
  scannedRows: number
) {
  const questions = yield* attempt("store", "sampling passages", () => sample(pinned))
  if (questions.length === 0) return undefined
  // One call at a time, so that the measurement can be interrupted.
  const search = (options: Parameters<typeof nearestTo>[2]) =>
    Effect.forEach(questions, (vector) => addresses(pinned, vector, options))
  const rows = yield* attempt("store", "counting passages", () => pinned.countRows(PASSAGES))
  const scans = rows <= scannedRows
  const best = { limit: COMPARED, exact: false, indexed: true }
  const exact = scans
    ? yield* search({ limit: RECALL_AT, exact: true })
    : (yield* search(best)).map(first(RECALL_AT))
  const byCodes = scans ? undefined : yield* search({ ...best, codes: true })
  const total = exact.reduce((sum, { size }) => sum + size, 0)
  const measured = yield* Clock.currentTimeMillis
  const recallWith = Effect.fn("LanceRecall.recallWith")(function* (extra: number) {
    const limit = RECALL_AT + extra
    const found = byCodes?.map(first(limit)) ?? (yield* search({ limit, exact: false }))
    const hits = exact.reduce((sum, near, i) => sum + near.intersection(found[i]!).size, 0)
    return total === 0 ? 1 : hits / total
  })
  let extra = rows < SMALL_ROWS ? EXTRA_OF_SMALL : EXTRA
  let recall = yield* recallWith(extra)
  for (const more of EXTRAS.filter((other) => other > extra)) {
    if (recall >= TARGET + MARGIN) break
    extra = more
    recall = yield* recallWith(extra)
  }
  const found: MeasuredIndex = { extra, recall, questions: questions.length, rows, measured }
  yield* attemptWrite("store", "storing the measured recall", () =>
    current.updateFieldMetadata([{ path: "vector", metadata: { [KEY]: JSON.stringify(found) } }])
  )
  return found
})

/** The first of addresses in their order. */
const first =
  (limit: number) =>
  (found: ReadonlySet<bigint>): ReadonlySet<bigint> =>
    new Set([...found].slice(0, limit))

/** The row addresses of the nearest, in their order. */
const addresses = (table: Table, vector: Float32Array, options: Parameters<typeof nearestTo>[2]) =>
  attempt("store", "measuring the recall", async (): Promise<ReadonlySet<bigint>> => {
    const rows = await nearestTo(table, vector, options).select(["_distance"]).withRowId().toArray()
    return new Set(rows.map((row) => row["_rowid"] as bigint))
  })

/** Questions are farther from passages than passages are from each other, so the target is exceeded. */
const MARGIN = 0.02

/** Passages at even distances in the table. */
const sample = async (table: Table): Promise<ReadonlyArray<Float32Array>> => {
  const rows = await table.countRows()
  const step = Math.max(1, Math.floor(rows / QUESTIONS))
  const offsets = Array.from({ length: Math.min(rows, QUESTIONS) }, (_, i) => i * step + (step >> 1))
  const drawn: ReadonlyArray<{ readonly vector: Iterable<number> | null }> = await table
    .takeOffsets(offsets.filter((offset) => offset < rows))
    .select(["vector"])
    .toArray()
  return drawn
    .flatMap(({ vector }) => (vector === null ? [] : [Float32Array.from(vector)]))
    .filter((vector) => hasDirection(vector))
}
