/** What nothing refers to any more: tables without a name, originals without a document. */
import { Clock, Effect } from "effect"
import { attempt, attemptWrite, type Connection, type Table } from "./Lance.ts"
import { GRACE_MILLIS, type LanceFiles } from "./LanceFiles.ts"
import { attachmentsOf } from "./LanceRows.ts"
import type { LanceSnapshots } from "./LanceSnapshots.ts"

/**
 * Drops tables that no collection's name stands for, and then originals that no document of any table names, when
 * both have been left alone for a day: a rebuild that is still being written is neither named nor garbage.
 */
export const collectGarbage = Effect.fn("LanceGarbage.collect")(function* (
  connection: Connection,
  collections: Table,
  files: LanceFiles,
  snapshots: LanceSnapshots
) {
  const kept = yield* snapshots.list()
  const before = (yield* Clock.currentTimeMillis) - GRACE_MILLIS
  const named = yield* attempt("store", "listing collections", async () => {
    const rows: ReadonlyArray<{ readonly table: string }> = await collections
      .query()
      .select(["table"])
      .toArray()
    return new Set([...rows, ...kept].map(({ table }) => table))
  })
  const tableNames = attempt("store", "listing tables", () => connection.tableNames({ limit: 100_000 }))
  const names = yield* tableNames
  const referenced = new Set<string>()
  const look = Effect.fn("LanceGarbage.look")(function* (name: string) {
    const table = yield* attempt("store", `opening table ${name}`, () => connection.openTable(name))
    const written = yield* attempt("store", `looking at table ${name}`, async () => {
      const versions = await table.listVersions()
      return Math.max(0, ...versions.map(({ timestamp }) => timestamp.getTime()))
    })
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
          // Dropped a moment ago: it refers to nothing.
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
})

const addReferences = async (table: Table, referenced: Set<string>): Promise<void> => {
  for await (const batch of table.query().where("kind = 'document'").select(["hash", "metadata"])) {
    for (const hash of batch.getChildAt(0) ?? []) referenced.add(hash)
    for (const metadata of batch.getChildAt(1) ?? [])
      attachmentsOf(metadata).forEach((hash) => referenced.add(hash))
  }
}
