/** Vectors that were paid for: a crash or a failed batch never pays twice. */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import type { VectorCache } from "../PassageIndex.ts"
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

  const put: VectorCache["put"] = Effect.fn("LanceVectors.put")(function* (entries) {
    if (entries.size === 0) return
    const rows = toTable(schema, entries.size, [
      utf8([...entries.keys()]),
      vectors([...entries.values()], dimension)
    ])
    // Two writers may keep the same one: it is the same vector, and looking for it would take longer than it is long.
    yield* attemptWrite("store", "caching vectors", () => table.add(rows))
  })

  return { get, put } satisfies VectorCache
})
