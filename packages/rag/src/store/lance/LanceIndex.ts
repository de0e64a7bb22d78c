/** The store: LanceDB tables in a folder, or on an object store. */
import { randomUUID } from "node:crypto"
import { mkdir, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { Effect, Layer } from "effect"
import { type Collection, PassageIndex, type Replacement, type Retention } from "../PassageIndex.ts"
import {
  attempt,
  attemptWrite,
  connect,
  isEnterprise,
  isRemote,
  keywordIndex,
  setKey,
  openOrCreate,
  type Place,
  sqlString,
  type Store
} from "./Lance.ts"
import { collectionOf, type DroppableCollection, type Upkeep } from "./LanceCollection.ts"
import { evictStore } from "./TableCache.ts"
import { collectGarbage } from "./LanceGarbage.ts"
import { openFiles } from "./LanceFiles.ts"
import { openNames } from "./LanceNames.ts"
import { collectionsSchema, passagesSchema } from "./LanceTables.ts"
import { openSnapshots, pruneVersions, snapshotOf } from "./LanceSnapshots.ts"
import { openVectors } from "./LanceVectors.ts"
import { shown } from "../../document/Given.ts"
import { checkManifest, type Manifest } from "../Manifest.ts"
import { RagError, type RagReason } from "../../document/RagError.ts"
import { readOnly } from "../ReadOnly.ts"

/** Where the store is reached, and what `maintain` leaves of its past. */
export interface StoreOptions extends Place, Retention {}

/**
 * The store in a folder, which is made where there is none; on an object store (`s3://`, `gs://`, `az://`); or on LanceDB
 * Enterprise (`db://`).
 *
 * **Gotchas.** Any number of processes may read and write the same folder: each sees the commits of the others.
 */
const make = Effect.fn("LanceIndex.make")(function* (folder: string, options: StoreOptions = {}) {
  if (typeof folder !== "string" || folder === "" || folder.includes("\0")) return yield* nowhere(folder)
  if (!isRemote(folder)) yield* makeFolder(folder)
  const connection = yield* connect(folder, options)
  const scope = yield* Effect.scope
  const store = { connection, folder }
  yield* Effect.addFinalizer(() => Effect.sync(() => evictStore(store)))
  const files = yield* openFiles(store)
  const snapshots = yield* openSnapshots(store)
  const collections = yield* openOrCreate(store, {
    name: "collections",
    schema: collectionsSchema,
    key: "name"
  })

  const names = openNames(collections)

  const upkeep: Upkeep = {
    background: (effect) => Effect.asVoid(Effect.forkIn(effect, scope, { startImmediately: true })),
    collectGarbage: collectGarbage(connection, collections, files, snapshots, !isEnterprise(folder)),
    compacts: !isEnterprise(folder),
    openAt: isRemote(folder)
      ? undefined
      : (table, version) => connection.openTable(table, undefined, { version }),
    store,
    prune: (table, name) =>
      Effect.flatMap(snapshots.list(), (kept) => pruneVersions(table, name, kept, options))
  }

  // A table is opened once: those that ask again share what is known of it, and take turns in writing.
  const tables = new Map<string, DroppableCollection>()
  const openTable = Effect.fn("LanceIndex.openTable")(function* (
    name: string,
    table: string,
    manifest: Manifest
  ) {
    const there = tables.get(table)
    if (there !== undefined) return there
    const opened = yield* attempt("open", `opening collection "${name}"`, () => connection.openTable(table))
    const collection = yield* collectionOf(name, manifest, opened, files, upkeep)
    tables.set(table, collection)
    return collection
  })

  // What is written must stand in the table that the name stands for afterwards: another process may have rebuilt or
  // restored the collection, and then nobody would see it.
  const lives = new Map<string, Collection>()
  const live = (name: string, table: string, collection: Collection): Collection => {
    const still = names.settled(name, table)
    const { adopt, commit, remove } = collection
    const there = lives.get(table) ?? {
      ...collection,
      commit: (documents) => Effect.andThen(commit(documents), still),
      adopt: (documents) => Effect.andThen(adopt(documents), still),
      remove: (ids) => Effect.andThen(remove(ids), still)
    }
    lives.set(table, there)
    return there
  }

  const open = Effect.fn("LanceIndex.open")(function* (name: string, manifest: Manifest) {
    let found = yield* names.find(name)
    if (found === undefined) {
      yield* names.add(name, yield* makeTable(store, manifest), manifest)
      // Whoever was first: another process may have written this row in between.
      found = yield* names.find(name)
    }
    if (found === undefined) {
      return yield* new RagError({
        stage: "open",
        reason: "Store",
        message: `Collection "${name}" was written and is not there. Is the folder on a file system that keeps what is written?`
      })
    }
    yield* checkManifest({ collection: name }, found.manifest, manifest)
    return live(name, found.table, yield* openTable(name, found.table, manifest))
  })

  const replace = Effect.fn("LanceIndex.replace")(function* (name: string, manifest: Manifest) {
    const found = yield* names.find(name)
    const table = yield* makeTable(store, manifest)
    return {
      current: found && (yield* openTable(name, found.table, found.manifest)),
      next: yield* openTable(name, table, manifest),
      publish: (last) => names.move(name, found?.table, table, manifest, last)
    } satisfies Replacement
  })

  const existing = Effect.fn("LanceIndex.existing")(function* (name: string) {
    const found = yield* names.find(name)
    if (found !== undefined) return found
    return yield* new RagError({
      stage: "store",
      reason: "NotFound",
      message: `There is no collection "${name}". List the collections; ingesting into one makes it.`
    })
  })

  const tag = Effect.fn("LanceIndex.tag")(function* (name: string, snapshot: string) {
    const made = yield* snapshotOf(connection, name, snapshot, yield* existing(name))
    yield* snapshots.put(made)
    return made
  })

  /** One that the present model and chunker can use. */
  const usable = Effect.fn("LanceIndex.usable")(function* (
    name: string,
    snapshot: string,
    manifest: Manifest
  ) {
    const found = yield* snapshots.find(name, snapshot)
    yield* checkManifest({ collection: name, snapshot }, found.manifest, manifest)
    return found
  })

  const checkout = Effect.fn("LanceIndex.checkout")(function* (
    name: string,
    snapshot: string,
    manifest: Manifest
  ) {
    const { table, version } = yield* usable(name, snapshot, manifest)
    const opened = yield* attempt("open", `opening snapshot "${snapshot}"`, () =>
      connection.openTable(table, undefined, { version })
    )
    return readOnly(snapshot, yield* collectionOf(name, manifest, opened, files, upkeep))
  })

  const restore = Effect.fn("LanceIndex.restore")(function* (
    name: string,
    snapshot: string,
    manifest: Manifest
  ) {
    const { table, version } = yield* usable(name, snapshot, manifest)
    yield* attemptWrite("store", `restoring snapshot "${snapshot}"`, async () => {
      const opened = await connection.openTable(table)
      try {
        await opened.checkout(version)
        await opened.restore()
      } finally {
        opened.close()
      }
    })
    // It may be the table from before a rebuild.
    yield* names.put(name, table, manifest)
  })

  const drop = Effect.fn("LanceIndex.drop")(function* (name: string) {
    const { table } = yield* existing(name)
    const kept = yield* snapshots.list(name)
    // Its name first: broken off here, the rest is garbage and not a collection that cannot be read.
    yield* attemptWrite("store", `removing collection "${name}"`, () =>
      collections.delete(`name = ${sqlString(name)}`)
    )
    yield* Effect.forEach(kept, snapshots.remove, { discard: true })
    for (const own of new Set([table, ...kept.map((snapshot) => snapshot.table)])) {
      const opened = tables.get(own)
      const dropTable = attemptWrite("store", `dropping table ${own}`, () => connection.dropTable(own))
      tables.delete(own)
      lives.delete(own)
      yield* opened === undefined ? dropTable : opened.dropWith(dropTable)
    }
    yield* upkeep.background(
      upkeep.collectGarbage.pipe(
        Effect.catch(({ message }) =>
          Effect.logWarning(`What only collection "${name}" kept is there still: ${message}`)
        )
      )
    )
  })

  const listed = attempt("open", "listing the collections", async () => {
    const rows: ReadonlyArray<{ readonly name: string }> = await collections
      .query()
      .select(["name"])
      .toArray()
    return rows.map(({ name }) => name).toSorted()
  }).pipe(Effect.withSpan("LanceIndex.collections"))

  return PassageIndex.of({
    open,
    replace,
    collections: listed,
    tag,
    tags: (name) => snapshots.list(name),
    untag: (name, snapshot) => Effect.flatMap(snapshots.find(name, snapshot), snapshots.remove),
    checkout,
    restore,
    drop,
    vectors: (model, dimension) => openVectors(store, model, dimension)
  })
})

/** `LanceIndex.layer(folder | url, options)`: a `PassageIndex` on LanceDB. */
export const LanceIndex = {
  layer: (folder: string, options?: StoreOptions): Layer.Layer<PassageIndex, RagError> =>
    Layer.effect(PassageIndex, make(folder, options))
}

const makeTable = Effect.fn("LanceIndex.makeTable")(function* (
  { connection, folder }: Store,
  manifest: Manifest
) {
  const name = `c_${randomUUID().replaceAll("-", "")}`
  yield* attempt("open", "making a table", async () => {
    const table = await connection.createEmptyTable(name, passagesSchema(manifest.dimension))
    await setKey(folder, table, "id")
    await table.createIndex("search", { config: keywordIndex() })
  })
  return name
})

const makeFolder = (folder: string): Effect.Effect<void, RagError> =>
  Effect.tryPromise({
    try: () => makeFolders(folder),
    catch: (cause) => {
      const code = (cause as NodeJS.ErrnoException).code
      const [reason, message] = explain(code, folder)
      return new RagError({ stage: "open", reason, message, cause })
    }
  })

/** With those above it. Node's own way of that asks for ever where nothing can be made, as below `/proc`. */
const makeFolders = async (folder: string): Promise<void> => {
  if (await isFolder(folder)) return
  if (dirname(folder) !== folder) await makeFolders(dirname(folder))
  await mkdir(folder).catch(async (cause) => {
    // Another process may have made it in between.
    if (!(await isFolder(folder))) throw cause
  })
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (stats) => stats.isDirectory(),
    () => false
  )

const explain = (code: string | undefined, folder: string): readonly [RagReason, string] => {
  switch (code) {
    case "EEXIST":
    case "ENOTDIR":
      return ["Malformed", `${folder} is a file, or lies below one. Give the path of a folder.`]
    case "ENOSPC":
      return ["NoSpace", `The folder ${folder} cannot be made: the disk is full. Free some space.`]
    default: {
      const denied = code === "EACCES" || code === "EPERM" || code === "EROFS"
      return [
        denied ? "PermissionDenied" : "Store",
        `The folder ${folder} cannot be made (${code}). Choose one that this user may write.`
      ]
    }
  }
}

const nowhere = (folder: unknown): RagError =>
  new RagError({
    stage: "open",
    reason: "Malformed",
    message: `${shown(folder)} names no folder. Give the path of one, or an address that begins with s3://, gs://, az:// or db://.`
  })
