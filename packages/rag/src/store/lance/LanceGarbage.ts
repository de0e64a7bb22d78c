/** What nothing refers to any more: tables without a name, originals without a document, vectors of models without a use. */
import { Clock, Effect, Option } from "effect"
import { decodeManifest } from "../Manifest.ts"
import type { RagError } from "../../document/RagError.ts"
import { attempt, attemptWrite, type Connection, isMissing, type Table } from "./Lance.ts"
import { GRACE_MILLIS, type LanceFiles } from "./LanceFiles.ts"
import { attachmentsOf } from "./LanceRows.ts"
import { type LanceSnapshots, READING_MILLIS } from "./LanceSnapshots.ts"
import { vectorsTable } from "./LanceVectors.ts"

/**
 * Drops tables that no collection's name stands for, and then originals that no document of any table names, when
 * both have been left alone for a day: a rebuild that is still being written is neither named nor garbage. So it does
 * with cached vectors of models that no collection and no snapshot was made with.
 *
 * What was dropped of a table stays in its files until those are written anew: `compacts` says whether that is done.
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
  const rows: ReadonlyArray<{ readonly name: string; readonly table: string; readonly manifest: string }> =
    yield* attempt("store", "listing collections", () =>
      collections.query().select(["name", "table", "manifest"]).toArray()
    )
  const named = new Set([...rows, ...kept].map(({ table }) => table))
  const tableNames = attempt("store", "listing tables", () => connection.tableNames({ limit: 100_000 }))
  const names = yield* tableNames
  const referenced = new Set<string>()
  const look = Effect.fn("LanceGarbage.look")(function* (name: string) {
    const table = yield* attempt("store", `opening table ${name}`, () => connection.openTable(name))
    const written = (yield* versionsOf(table, name)).at(-1) ?? 0
    if (!named.has(name) && written < before) {
      yield* attemptWrite("store", `dropping table ${name}`, () => connection.dropTable(name))
      return
    }
    const versions = kept.filter((snapshot) => snapshot.table === name).map(({ version }) => version)
    yield* attempt("store", "listing the originals in use", async () => {
      await addReferences(table, referenced)
      for (const version of versions) {
        await table.checkout(version)
        await addReferences(table, referenced)
      }
    })
  })
  let unread = 0
  for (const name of names.filter((name) => name.startsWith("c_"))) {
    yield* look(name).pipe(
      Effect.catch((error) =>
        Effect.gen(function* () {
          // Dropped a moment ago, or given up before it had a version: it refers to nothing.
          if (!named.has(name) && isMissing(error)) return
          if (!(yield* tableNames).includes(name)) return
          unread++
          yield* Effect.logWarning(
            `What table ${name} refers to is unknown, so all originals are kept. ${error.message}`
          )
        })
      )
    )
  }
  if (unread === 0) yield* files.collect(referenced)
  if (compacts) yield* orLeft("files", tidy(files.table, "files", before))

  const made = yield* Effect.forEach(rows, ({ manifest, name }) => decodeManifest(name, manifest)).pipe(
    Effect.option
  )
  const models = [...Option.getOrElse(made, () => []), ...kept.map(({ manifest }) => manifest)]
  const used = new Set(models.map(({ dimension, embeddingModel }) => vectorsTable(embeddingModel, dimension)))
  const lookAtVectors = Effect.fn("LanceGarbage.vectors")(function* (name: string) {
    const table = yield* attempt("store", `opening table ${name}`, () => connection.openTable(name))
    const written = (yield* versionsOf(table, name)).at(-1) ?? 0
    // Where a manifest cannot be read, nobody knows whose they are.
    if (Option.isSome(made) && !used.has(name) && written < before)
      yield* attemptWrite("store", `dropping table ${name}`, () => connection.dropTable(name))
    else if (compacts) yield* tidy(table, name, before)
    table.close()
  })
  for (const name of names.filter((name) => name.startsWith("vectors_")))
    yield* orLeft(name, lookAtVectors(name))
})

const orLeft = (name: string, work: Effect.Effect<void, RagError>): Effect.Effect<void> =>
  work.pipe(
    Effect.catch(({ message }) =>
      Effect.logWarning(`What was dropped of table ${name} is on the disk still. ${message}`)
    )
  )

/** When its versions were written, oldest first. */
const versionsOf = (table: Table, name: string): Effect.Effect<ReadonlyArray<number>, RagError> =>
  attempt("store", `looking at table ${name}`, async () =>
    (await table.listVersions()).map(({ timestamp }) => timestamp.getTime()).toSorted((a, b) => a - b)
  )

/** Each write leaves a file, and each version names all of them; so many are borne … */
const FILES_AT_MOST = 128

/** … for a day: whoever joins them reads and writes the whole table. */
const tidy = Effect.fn("LanceGarbage.tidy")(function* (table: Table, name: string, before: number) {
  const versions = yield* versionsOf(table, name)
  const { fragmentStats } = yield* attempt("store", `looking at table ${name}`, () => table.stats())
  if (!versions.some((time) => time < before) && fragmentStats.numFragments <= FILES_AT_MOST) return
  const now = yield* Clock.currentTimeMillis
  // That one may be in use, for it was current until now, or until a moment ago; those before it are not.
  const last = versions.findLast((time) => time < now - READING_MILLIS) ?? 0
  yield* attemptWrite("store", `compacting table ${name}`, () =>
    table.optimize({ cleanupOlderThan: new Date(last) })
  )
})

const addReferences = async (table: Table, referenced: Set<string>): Promise<void> => {
  for await (const batch of table.query().where("kind = 'document'").select(["hash", "metadata"])) {
    for (const hash of batch.getChildAt(0) ?? []) referenced.add(hash)
    for (const metadata of batch.getChildAt(1) ?? [])
      attachmentsOf(metadata).forEach((hash) => referenced.add(hash))
  }
}
