/** Vectors that were paid for: a crash or a failed batch never pays twice. */
import { createHash } from "node:crypto"
import { Effect, Semaphore } from "effect"
import type { VectorCache } from "../PassageIndex.ts"
import type { RagError } from "../RagError.ts"
import { attempt, attemptWrite, openOrCreate, sqlIn, type Store } from "./Lance.ts"
import { toTable, utf8, vectors } from "./LanceRows.ts"
import { vectorsSchema } from "./LanceTables.ts"

/** The table `vectors_<model>`; names of tables take no slashes, spaces or Chinese, so the model's is hashed. */
export const openVectors = Effect.fn("LanceVectors.open")(function* (
  store: Store,
  model: string,
  dimension: number
) {
  const name = `vectors_${createHash("sha256").update(`${model}\0${dimension}`).digest("hex").slice(0, 32)}`
  const schema = vectorsSchema(dimension)
  const table = yield* openOrCreate(store, { name, schema, key: "sha256" })

  const get: VectorCache["get"] = Effect.fn("LanceVectors.get")(function* (keys) {
    if (keys.length === 0) return new Map()
    const rows: ReadonlyArray<{ readonly sha256: string; readonly vector: Iterable<number> }> =
      yield* attempt("store", "looking up cached vectors", () =>
        table.query().where(sqlIn("sha256", keys)).select(["sha256", "vector"]).toArray()
      )
    return new Map(rows.map((row) => [row.sha256, Float32Array.from(row.vector)]))
  })

  const write = Effect.fn("LanceVectors.write")(function* (entries: ReadonlyMap<string, Float32Array>) {
    const rows = toTable(schema, entries.size, [
      utf8([...entries.keys()]),
      vectors([...entries.values()], dimension)
    ])
    // Two writers may keep the same one: it is the same vector, and looking for it would take longer than it is long.
    yield* attemptWrite("store", "caching vectors", () => table.add(rows))
  })

  // What comes while a write is under way is written together after it: each write makes a file of its own.
  const turn = yield* Semaphore.make(1)
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
