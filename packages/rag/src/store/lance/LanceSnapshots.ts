/** Snapshots: versions of tables, kept under a name. */
import { randomUUID } from "node:crypto"
import { Clock, Duration, Effect } from "effect"
import { decodeManifest, encodeManifest, type Manifest } from "../Manifest.ts"
import type { VersionRetention, Snapshot } from "../PassageIndex.ts"
import { RagError } from "../../document/RagError.ts"
import {
  attemptWrite,
  type Connection,
  openOnUse,
  selectRows,
  sqlString,
  type Store,
  type Table,
  withTable
} from "./Lance.ts"
import { times, toTable, utf8 } from "./LanceRows.ts"
import { snapshotsSchema } from "./LanceTables.ts"

export interface LanceSnapshot extends Snapshot {
  readonly collection: string
  readonly table: string
  readonly version: number
}

export type LanceSnapshots = Effect.Success<ReturnType<typeof openSnapshots>>

export const openSnapshots = Effect.fn("LanceSnapshots.open")(function* (store: Store) {
  const opened = yield* openOnUse(store, { name: "snapshots", schema: snapshotsSchema, key: "id" })

  const put = Effect.fn("LanceSnapshots.put")(function* (snapshot: LanceSnapshot) {
    const table = yield* opened
    const row = toTable(snapshotsSchema, 1, [
      utf8([idOf(snapshot)]),
      utf8([snapshot.collection]),
      utf8([snapshot.name]),
      utf8([snapshot.table]),
      times([snapshot.version]),
      utf8([encodeManifest(snapshot.manifest)]),
      times([snapshot.made])
    ])
    yield* attemptWrite("store", "storing a snapshot", () =>
      table.mergeInsert("id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(row)
    )
  })

  /** The snapshots of one collection, or of all, oldest first. */
  const list = Effect.fn("LanceSnapshots.list")(function* (collection?: string) {
    const rows = yield* selectRows<Omit<LanceSnapshot, "manifest"> & { readonly manifest: string }>(
      yield* opened,
      ["store", "listing snapshots"],
      ["collection", "name", "table", "version", "manifest", "made"],
      collection === undefined ? "true" : `collection = ${sqlString(collection)}`
    )
    const all = yield* Effect.forEach(rows, (row) =>
      Effect.map(decodeManifest(row.collection, row.manifest), (manifest): LanceSnapshot => ({
        ...row,
        manifest
      }))
    )
    return all.toSorted((a, b) => a.made - b.made)
  })

  /** Fails with `NotFound`. */
  const find = Effect.fn("LanceSnapshots.find")(function* (collection: string, name: string) {
    const found = (yield* list(collection)).find((snapshot) => snapshot.name === name)
    if (found !== undefined) return found
    const message = `Collection "${collection}" has no snapshot "${name}". List its tags; the snapshot may have been removed.`
    return yield* new RagError({ stage: "store", reason: "NotFound", message })
  })

  const remove = (snapshot: LanceSnapshot) =>
    Effect.flatMap(opened, (table) =>
      attemptWrite("store", "removing a snapshot", () => table.delete(`id = ${sqlString(idOf(snapshot))}`))
    )

  return { put, list, find, remove, opened }
})

const idOf = ({ collection, name }: LanceSnapshot): string => JSON.stringify([collection, name])

/** A snapshot of the collection's table as it is now. A LanceDB tag protects the version from other programs' clean-up. */
export const snapshotOf = Effect.fn("LanceSnapshots.of")(function* (
  connection: Connection,
  collection: string,
  name: string,
  { manifest, table }: { readonly table: string; readonly manifest: Manifest }
) {
  const version = yield* attemptWrite("store", `tagging table ${table}`, () =>
    withTable(connection, table, async (opened) => {
      const version = await opened.version()
      const tags = await opened.tags()
      await tags.create(`s-${randomUUID()}`, version)
      return version
    })
  )
  const made = yield* Clock.currentTimeMillis
  return { collection, name, table, version, manifest, made } satisfies LanceSnapshot
})

/** A version that was the newest within this time may be in use by a reader. */
export const READING_MILLIS = 10 * 60 * 1000

/** Each call lists all versions: 240 bytes each on an object store. Beyond so many, they are kept for a shorter time. */
export const MANY_VERSIONS = 100
export const READING_MANY_MILLIS = 2 * 60 * 1000

/** LanceDB's message about a version, or a part of an index, that another process dropped since it was listed. */
const DROPPED = /not found: \S*_(?:versions|indices)\//i

/** Lists and drops versions. Repeated if another process drops the same ones. */
export const attemptToDrop = <A>(doing: string, drop: () => Promise<A>): Effect.Effect<A, RagError> =>
  attemptWrite("store", doing, drop).pipe(
    Effect.retry({ times: 3, while: ({ cause }) => DROPPED.test(String(cause)) })
  )

/** When the oldest version that is kept was made. `versions` are the newest first. */
export const oldestKept = (
  versions: ReadonlyArray<{ readonly version: number; readonly timestamp: Date }>,
  inUse: ReadonlySet<number>,
  now: number,
  { keepFor, keepVersions = 1 }: VersionRetention
): Date | undefined =>
  versions.findLast(({ version }, i) => {
    const replaced = versions[i - 1]?.timestamp.getTime() ?? now
    const reading = i < MANY_VERSIONS ? READING_MILLIS : READING_MANY_MILLIS
    const age =
      keepFor === undefined
        ? reading
        : Math.max(READING_MILLIS, Duration.toMillis(Duration.fromInputUnsafe(keepFor)))
    return i < keepVersions || now - replaced <= age || inUse.has(version)
  })?.timestamp

/** Drops versions that exceed the retention. LanceDB drops by age: those after a snapshot are kept with it. */
export const pruneVersions = Effect.fn("LanceSnapshots.prune")(function* (
  table: Table,
  name: string,
  kept: ReadonlyArray<LanceSnapshot>,
  retention: VersionRetention
) {
  const now = yield* Clock.currentTimeMillis
  const inUse = new Set(kept.filter((snapshot) => snapshot.table === name).map(({ version }) => version))
  yield* attemptToDrop("dropping old versions", async () => {
    // The tags of removed snapshots would keep their versions.
    const tags = await table.tags()
    const tagged = Object.entries(await tags.list())
    for (const [tag, { version }] of tagged) if (!inUse.has(version)) await tags.delete(tag)
    const versions = (await table.listVersions()).toSorted((a, b) => b.version - a.version)
    await table.optimize({ cleanupOlderThan: oldestKept(versions, inUse, now, retention) ?? new Date(0) })
  })
})
