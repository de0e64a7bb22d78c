/** Garbage collection: unnamed tables, files of no document, cached vectors of unused models. */
import { Clock, Effect } from "effect"
import { decodeManifest } from "../Manifest.ts"
import type { RagError } from "../../document/RagError.ts"
import { attempt, attemptWrite, type Connection, isMissing, selectRows, type Table } from "./Lance.ts"
import type { LanceFiles } from "./LanceFiles.ts"
import { COLUMNS, isIntact, type NameRow } from "./LanceNames.ts"
import { attachmentsOf } from "./LanceRows.ts"
import { GRACE_MILLIS } from "../LanceScratch.ts"
import { attemptToDrop, type LanceSnapshots, READING_MILLIS } from "./LanceSnapshots.ts"
import { vectorsTable } from "./LanceVectors.ts"

/**
 * Drops what has not been written for a day and is not referred to: tables without a name, original files that no
 * document of any table names, and cached vectors of models that no collection or snapshot uses. A day, because a rebuild in
 * progress has no name yet. With `compacts` the tables are compacted, which frees the space.
 */
export const collectGarbage = Effect.fn("LanceGarbage.collect")(function* (
  connection: Connection,
  collections: Table,
  files: LanceFiles,
  snapshots: LanceSnapshots,
  compacts: boolean
) {
  const kept = yield* snapshots.list()
  const before = (yield* Clock.currentTimeMillis) - GRACE_MILLIS
  const rows = yield* selectRows<NameRow>(collections, ["store", "listing collections"], COLUMNS)
  // The name of a table may be in it.
  const damaged = rows.find((row) => !isIntact(row))
  if (damaged !== undefined)
    return yield* Effect.logWarning(`Nothing is dropped: the row of collection "${damaged.name}" is damaged.`)
  const named = new Set([...rows, ...kept].map(({ table }) => table))
  const tableNames = attempt("store", "listing tables", () => connection.tableNames({ limit: 100_000 }))
  const names = yield* tableNames
  const referenced = new Set<string>()
  /** Drops a table that is unused and was last written before the grace period. Otherwise opens it. */
  const openOrDrop = Effect.fn("LanceGarbage.openOrDrop")(function* (name: string, isUsed: boolean) {
    const table = yield* attempt("store", `opening table ${name}`, () => connection.openTable(name))
    const written = (yield* versionsOf(table, name)).at(-1) ?? 0
    if (isUsed || written >= before) return table
    yield* attemptWrite("store", `dropping table ${name}`, () => connection.dropTable(name))
    return undefined
  })
  const checkTable = Effect.fn("LanceGarbage.checkTable")(function* (name: string) {
    const table = yield* openOrDrop(name, named.has(name))
    if (table === undefined) return
    const versions = kept.filter((snapshot) => snapshot.table === name).map(({ version }) => version)
    yield* attempt("store", "listing the files in use", async () => {
      await addReferences(table, referenced)
      for (const version of versions) {
        await table.checkout(version)
        await addReferences(table, referenced)
      }
    })
  })
  let unread = 0
  for (const name of names.filter((name) => name.startsWith("c_"))) {
    const error = yield* checkTable(name).pipe(
      Effect.flip,
      Effect.orElseSucceed(() => undefined)
    )
    // Dropped since, or abandoned before its first version: it refers to nothing.
    if (error === undefined || (!named.has(name) && isMissing(error))) continue
    if (!(yield* tableNames).includes(name)) continue
    unread++
    yield* Effect.logWarning(`Table ${name} cannot be read, so all original files are kept. ${error.message}`)
  }
  if (unread === 0) yield* files.collect(referenced)
  const own = { files: files.opened, collections: Effect.succeed(collections), snapshots: snapshots.opened }
  for (const [name, opened] of compacts ? Object.entries(own) : [])
    yield* logFailure(
      name,
      Effect.flatMap(opened, (table) => compactOld(table, name, before))
    )

  const decoded = Effect.forEach(rows, ({ manifest, name }) => decodeManifest(name, manifest))
  const manifests = yield* Effect.orElseSucceed(decoded, () => undefined)
  const models = [...(manifests ?? []), ...kept.map(({ manifest }) => manifest)]
  const used = new Set(models.map(({ dimension, embeddingModel }) => vectorsTable(embeddingModel, dimension)))
  const checkVectors = Effect.fn("LanceGarbage.checkVectors")(function* (name: string) {
    // If a manifest cannot be read, its model is unknown, and no vectors are dropped.
    const table = yield* openOrDrop(name, manifests === undefined || used.has(name))
    if (table !== undefined && compacts) yield* compactOld(table, name, before)
    table?.close()
  })
  for (const name of names.filter((name) => name.startsWith("vectors_")))
    yield* logFailure(name, checkVectors(name))
})

const logFailure = (name: string, work: Effect.Effect<void, RagError>): Effect.Effect<void> =>
  Effect.catchTag(work, "RagError", ({ message }) =>
    Effect.logWarning(`The space of dropped rows of table ${name} was not freed. ${message}`)
  )

/** The times of its versions, oldest first. */
const versionsOf = (table: Table, name: string): Effect.Effect<ReadonlyArray<number>, RagError> =>
  attemptToDrop(`reading the versions of table ${name}`, async () =>
    (await table.listVersions()).map(({ timestamp }) => timestamp.getTime()).toSorted((a, b) => a - b)
  )

/** Each write leaves a version, and mostly a file. More than this many are compacted at once … */
const MAX_FILES = 128
const MAX_VERSIONS = 256

/** … fewer once a day, because compacting rewrites the whole table. */
const compactOld = Effect.fn("LanceGarbage.compact")(function* (table: Table, name: string, before: number) {
  const versions = yield* versionsOf(table, name)
  const { fragmentStats } = yield* attempt("store", `reading the versions of table ${name}`, () =>
    table.stats()
  )
  const isSmall = fragmentStats.numFragments <= MAX_FILES && versions.length <= MAX_VERSIONS
  if (isSmall && !versions.some((time) => time < before)) return
  const now = yield* Clock.currentTimeMillis
  // The last version before this time may be in use, because it was current until recently. Older ones are not.
  const last = versions.findLast((time) => time < now - READING_MILLIS) ?? 0
  yield* attemptToDrop(`compacting table ${name}`, () => table.optimize({ cleanupOlderThan: new Date(last) }))
})

const addReferences = async (table: Table, referenced: Set<string>): Promise<void> => {
  for await (const batch of table.query().where("kind = 'document'").select(["hash", "metadata"])) {
    for (const hash of batch.getChildAt(0) ?? []) referenced.add(hash)
    for (const metadata of batch.getChildAt(1) ?? [])
      attachmentsOf(metadata).forEach((hash) => referenced.add(hash))
  }
}
