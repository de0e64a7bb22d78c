/** Vectors that were paid for: a crash or a failed batch never pays twice. */
import { createHash } from "node:crypto"
import { Effect, Semaphore } from "effect"
import type { VectorCache } from "../PassageIndex.ts"
import type { RagError } from "../../document/RagError.ts"
import { type KeyFilter, keyFilter } from "./KeyFilter.ts"
import { append, attempt, attemptWrite, openOrCreate, sqlIn, type Store } from "./Lance.ts"
import { toTable, utf8, vectors } from "./LanceRows.ts"
import { vectorsSchema } from "./LanceTables.ts"

/** Names of tables take no slashes, spaces or Chinese, so the model's is hashed. */
export const vectorsTable = (model: string, dimension: number): string =>
  `vectors_${createHash("sha256").update(`${model}\0${dimension}`).digest("hex").slice(0, 32)}`

/** The table `vectors_<model>`. */
export const openVectors = Effect.fn("LanceVectors.open")(function* (
  store: Store,
  model: string,
  dimension: number
) {
  const schema = vectorsSchema(dimension)
  const table = yield* openOrCreate(store, { name: vectorsTable(model, dimension), schema, key: "sha256" })

  const turn = yield* Semaphore.make(1)

  // The keys there are, as of a version of the table: what this process writes is added, what others write is read.
  let seen: { version: number; readonly keys: KeyFilter } | undefined
  const keysOfNow = Effect.gen(function* () {
    const version = yield* attempt("store", "looking at the cache of vectors", () => table.version())
    if (seen?.version === version) return seen.keys
    const keys = keyFilter()
    yield* attempt("store", "reading what vectors are cached", async () => {
      for await (const batch of table.query().select(["sha256"])) {
        for (const key of batch.getChildAt(0) ?? []) keys.add(key)
      }
    })
    seen = { version, keys }
    return keys
  }).pipe(turn.withPermit)

  const get: VectorCache["get"] = Effect.fn("LanceVectors.get")(function* (keys) {
    const there = yield* keysOfNow
    const likely = keys.filter(there.mayHave)
    if (likely.length === 0) return new Map()
    const rows: ReadonlyArray<{ readonly sha256: string; readonly vector: Iterable<number> }> =
      yield* attempt("store", "looking up cached vectors", () =>
        table.query().where(sqlIn("sha256", likely)).select(["sha256", "vector"]).toArray()
      )
    return new Map(rows.map((row) => [row.sha256, Float32Array.from(row.vector)]))
  })

  const write = Effect.fn("LanceVectors.write")(function* (entries: ReadonlyMap<string, Float32Array>) {
    const rows = toTable(schema, entries.size, [
      utf8([...entries.keys()]),
      vectors([...entries.values()], dimension)
    ])
    // Two writers may keep the same one: it is the same vector, and looking for it would take longer than it is long.
    const { version } = yield* attemptWrite("store", "caching vectors", () => append(table, rows))
    if (seen === undefined || version !== seen.version + 1) return
    for (const key of entries.keys()) seen.keys.add(key)
    seen.version = version
  })

  // What comes while a write is under way is written together after it: each write makes a file of its own.
  let next: Group | undefined
  const put: VectorCache["put"] = Effect.fnUntraced(function* (entries) {
    if (entries.size === 0) return
    const own = new Map<string, Float32Array>()
    const start = Effect.suspend(() => {
      next = undefined
      return write(own)
    })
    const group = { entries: own, written: yield* Effect.cached(turn.withPermit(start)) }
    const { entries: all, written } = (next ??= group)
    for (const [key, vector] of entries) all.set(key, vector)
    yield* written
  })

  return { get, put } satisfies VectorCache
})

/** Vectors that are written together. */
interface Group {
  readonly entries: Map<string, Float32Array>
  readonly written: Effect.Effect<void, RagError>
}
