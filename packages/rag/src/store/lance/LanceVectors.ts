/** The cache of embeddings: after a crash or a failed batch, no text is paid for twice. */
import { createHash } from "node:crypto"
import { Effect, Semaphore } from "effect"
import type { VectorCache } from "../PassageIndex.ts"
import { append, attempt, attemptWrite, openOrCreate, selectRows, sqlIn, type Store } from "./Lance.ts"
import { repairing, repairRows } from "./LanceRepair.ts"
import { toTable, utf8, vectors } from "./LanceRows.ts"
import { vectorsSchema } from "./LanceTables.ts"

/** Table names allow no slashes, spaces or Chinese, so the model's name is hashed. */
export const vectorsTable = (model: string, dimension: number): string =>
  `vectors_${createHash("sha256").update(`${model}\0${dimension}`).digest("hex").slice(0, 32)}`

export const openVectors = Effect.fn("LanceVectors.open")(function* (
  store: Store,
  model: string,
  dimension: number
) {
  const schema = vectorsSchema(dimension)
  const table = yield* openOrCreate(store, { name: vectorsTable(model, dimension), schema, key: "sha256" })

  const writer = yield* Semaphore.make(1)
  const repaired = repairing(store, Effect.succeed(table), (table) =>
    repairRows(table, ["sha256", "vector"], "all")
  )

  // The prefixes of the keys at one version of the table, since a look-up by key reads all keys. Writes of this process are
  // added; after a write of another process all keys are read again.
  let known: { version: number; readonly prefixes: Set<number> } | undefined
  const currentPrefixes = Effect.gen(function* () {
    const version = yield* attempt("store", "reading the version of the vector cache", () => table.version())
    if (known?.version === version) return known.prefixes
    const prefixes = new Set<number>()
    yield* attempt("store", "reading the keys of the vector cache", async () => {
      for await (const batch of table.query().select(["sha256"])) {
        for (const key of batch.getChildAt(0) ?? []) prefixes.add(prefixOf(key))
      }
    })
    known = { version, prefixes }
    return prefixes
  }).pipe(writer.withPermit)

  const get: VectorCache["get"] = Effect.fn("LanceVectors.get")(function* (keys) {
    const prefixes = yield* currentPrefixes
    const likely = keys.filter((key) => prefixes.has(prefixOf(key)))
    if (likely.length === 0) return new Map()
    const rows = yield* selectRows<{ readonly sha256: string; readonly vector: Iterable<number> }>(
      table,
      ["store", "looking up cached vectors"],
      ["sha256", "vector"],
      sqlIn("sha256", likely)
    )
    return new Map(rows.map((row) => [row.sha256, Float32Array.from(row.vector)]))
  })

  const put = Effect.fn("LanceVectors.put")(function* (entries: ReadonlyMap<string, Float32Array>) {
    if (entries.size === 0) return
    const rows = toTable(schema, entries.size, [
      utf8([...entries.keys()]),
      vectors([...entries.values()], dimension)
    ])
    // Two writers may append the same vector: it is harmless, and looking for it would take longer.
    const { version } = yield* attemptWrite("store", "caching vectors", () => append(table, rows.batches))
    if (known === undefined || version !== known.version + 1) return
    for (const key of entries.keys()) known.prefixes.add(prefixOf(key))
    known.version = version
  }, writer.withPermit)

  return { get: (keys: ReadonlyArray<string>) => repaired(get(keys)), put } satisfies VectorCache
})

/** The first 28 bits of a SHA-256, hexadecimal: as a number, a key takes a sixth of the memory. */
const prefixOf = (sha256: string): number => Number.parseInt(sha256.slice(0, 7), 16)
