/** How much of an exact search the vector index finds, measured on the collection's own vectors, and kept with it. */
import { Clock, Effect } from "effect"
import type { RagError } from "../../document/RagError.ts"
import { attempt, attemptWrite, nearestTo, type Table } from "./Lance.ts"
import { hasDirection } from "./LanceRows.ts"

/** What was measured, and what a search does because of it. */
export interface MeasuredIndex {
  /** Passages looked at exactly beyond those asked for. */
  readonly extra: number
  /** recall@20 of that, 0 to 1. */
  readonly recall: number
  readonly questions: number
  /** Passages in the index when it was measured. */
  readonly rows: number
  /** Milliseconds since 1970. */
  readonly measured: number
}

/** Recall is the share of the nearest so many. */
const AT = 20

/** Of an exact search's passages, so many must be found. */
const TARGET = 0.97

/**
 * Short questions of lexical words find .988 of the 20 nearest with 20 more compared among 10,771 passages, but .973 among
 * 107,999: there 40 more find .994. Passages as questions find all of them either way, so that measuring does not tell.
 */
const EXTRA = 40
const EXTRA_OF_FEW = 20
const FEW = 32_768

/**
 * So many passages are compared exactly where `limit` are asked for: enough for the nearest 20, and of many a quarter
 * more than asked for. Each one costs: the numbers of its vector are read.
 */
export const candidates = (limit: number, measured: MeasuredIndex | undefined): number =>
  Math.max(limit > 2 * AT ? Math.ceil(limit * 1.25) : limit, AT + (measured?.extra ?? EXTRA))

/** From the cheapest to the most thorough. */
const EXTRAS = [EXTRA_OF_FEW, EXTRA, 80, 160, 320, 640]

/** An exact search of a million takes a second. */
const QUESTIONS = 16

/** It stands with the column: a row of its own would be one that no index holds, and double the time of a search. */
const KEY = "sluice:recall"

/** What was measured last; undefined while nothing was. */
export const measuredIndex = (table: Table): Effect.Effect<MeasuredIndex | undefined, RagError> =>
  attempt("store", "reading what the index finds", async () => {
    const { fields } = await table.schema()
    const json = fields.find(({ name }) => name === "vector")?.metadata.get(KEY)
    return json === undefined ? undefined : (JSON.parse(json) as MeasuredIndex)
  })

/** Takes the least `extra` that reaches the target, or the largest there is, and keeps what was measured. */
export const measureIndex = Effect.fn("LanceRecall.measure")(function* (table: Table) {
  const questions = yield* attempt("store", "drawing passages to measure with", () => sample(table))
  if (questions.length === 0) return undefined
  const exact: Array<ReadonlySet<bigint>> = []
  // One call at a time: each may be given up between two of them.
  for (const vector of questions) {
    const near = yield* attempt("store", "searching exactly", () =>
      addresses(table, vector, { limit: AT, exact: true })
    )
    exact.push(near)
  }
  const rows = yield* attempt("store", "counting passages", () => table.countRows("vector IS NOT NULL"))
  const measured = yield* Clock.currentTimeMillis
  const recallWith = Effect.fn("LanceRecall.recallWith")(function* (extra: number) {
    let hits = 0
    let due = 0
    for (const [i, vector] of questions.entries()) {
      // Exact cosines of so many put the nearest first: what is among them is found.
      const near = yield* attempt("store", "searching the index", () =>
        addresses(table, vector, { limit: AT + extra, exact: false })
      )
      hits += exact[i]!.intersection(near).size
      due += exact[i]!.size
    }
    return due === 0 ? 1 : hits / due
  })
  let extra = rows < FEW ? EXTRA_OF_FEW : EXTRA
  let recall = yield* recallWith(extra)
  for (const more of EXTRAS.filter((other) => other > extra)) {
    if (recall >= TARGET + MARGIN) break
    extra = more
    recall = yield* recallWith(extra)
  }
  const found: MeasuredIndex = { extra, recall, questions: questions.length, rows, measured }
  yield* attemptWrite("store", "keeping what the index finds", () =>
    table.updateFieldMetadata([{ path: "vector", metadata: { [KEY]: JSON.stringify(found) } }])
  )
  return found
})

/** Where the nearest stand in the table. */
const addresses = async (
  table: Table,
  vector: Float32Array,
  how: Parameters<typeof nearestTo>[2]
): Promise<ReadonlySet<bigint>> => {
  const rows = await nearestTo(table, vector, how).select(["_distance"]).withRowId().toArray()
  return new Set(rows.map((row) => row["_rowid"] as bigint))
}

/** Questions are farther from all passages than passages are from each other. */
const MARGIN = 0.02

/** Passages from all over the table, the same ones for the same table. */
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
