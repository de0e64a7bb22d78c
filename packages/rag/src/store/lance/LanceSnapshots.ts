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

  return { put, list, find, remove }
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

/** A version younger than this may be in use by a reader. */
export const READING_MILLIS = 10 * 60 * 1000

/** Versions are kept this long unless `keepFor` says otherwise. */
const KEEP_MILLIS = 60 * 60 * 1000

/** LanceDB's message about a version, or a part of an index, that another process dropped since it was listed. */
const DROPPED = /not found: \S*_(?:versions|indices)\//i

/** Lists and drops versions. Repeated if another process drops the same ones. */
export const attemptToDrop = <A>(doing: string, drop: () => Promise<A>): Effect.Effect<A, RagError> =>
  attemptWrite("store", doing, drop).pipe(
    Effect.retry({ times: 3, while: ({ cause }) => DROPPED.test(String(cause)) })
  )

/** Drops versions that are older than the retention, except those of snapshots. */
export const pruneVersions = Effect.fn("LanceSnapshots.prune")(function* (
  table: Table,
  name: string,
  kept: ReadonlyArray<LanceSnapshot>,
  { keepFor, keepVersions = 1 }: VersionRetention
) {
  const now = yield* Clock.currentTimeMillis
  const age = keepFor === undefined ? KEEP_MILLIS : Duration.toMillis(Duration.fromInputUnsafe(keepFor))
  const inUse = new Set(kept.filter((snapshot) => snapshot.table === name).map(({ version }) => version))
  yield* attemptToDrop("dropping old versions", async () => {
    // The tags of removed snapshots would keep their versions.
    const tags = await table.tags()
    const tagged = Object.entries(await tags.list())
    for (const [tag, { version }] of tagged) if (!inUse.has(version)) await tags.delete(tag)
    const versions = (await table.listVersions()).toSorted((a, b) => b.version - a.version)
    const newest = versions.slice(0, Math.max(1, keepVersions)).at(-1)?.timestamp.getTime() ?? 0
    // LanceDB drops by age and refuses to drop a tagged version: the oldest one is the limit.
    const oldest = versions
      .filter(({ version }) => inUse.has(version))
      .map(({ timestamp }) => timestamp.getTime())
    const before = Math.min(now - Math.max(age, READING_MILLIS), newest, ...oldest)
    await table.optimize({ cleanupOlderThan: new Date(before) })
  })
})
