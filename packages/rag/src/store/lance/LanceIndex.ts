/** A `PassageIndex` on LanceDB tables, in a folder or on an object store. */
import { randomUUID } from "node:crypto"
import { Array, Effect, Layer, type Scope } from "effect"
import { RagError } from "../../document/RagError.ts"
import { storedFormats } from "../../formats/DocumentFormats.ts"
import { copyLibraryFile, keepLibraryFiles, listLibraryFiles } from "../LibraryFiles.ts"
import { readOnly } from "../LibrarySnapshots.ts"
import { checkManifest, type Manifest } from "../Manifest.ts"
import { type Collection, PassageIndex, type VersionRetention } from "../PassageIndex.ts"
import {
  attempt,
  attemptWrite,
  type ConnectionOptions,
  connect,
  connectStore,
  isUnreadable,
  isEnterprise,
  isRemote,
  keywordIndex,
  openOrCreate,
  selectRows,
  setKey,
  sqlString,
  withTable
} from "./Lance.ts"
import { type CollectionStore, type DroppableCollection, openCollection } from "./LanceCollection.ts"
import { openFiles } from "./LanceFiles.ts"
import { checkConditionalWrites, checkFolder, makeFolder } from "./LanceFolder.ts"
import { collectGarbage } from "./LanceGarbage.ts"
import { findMigrated, rebuildPrefix, resumeRebuild } from "./LanceMigrations.ts"
import { openNames } from "./LanceNames.ts"
import { opens, readableRows, repairCollection, repairRows, setVersionAside } from "./LanceRepair.ts"
import { openSnapshots, pruneVersions, snapshotOf } from "./LanceSnapshots.ts"
import { collectionsSchema, passagesSchema } from "./LanceTables.ts"
import { openVectors } from "./LanceVectors.ts"
import { evictStore } from "./TableCache.ts"

/** How the store is reached, and which old versions `maintain` keeps. */
export interface StoreOptions extends ConnectionOptions, VersionRetention {}

type Service = typeof PassageIndex.Service

type OpenStore = Effect.Success<ReturnType<typeof openStore>>

const openStore = Effect.fn("LanceIndex.openStore")(function* (folder: string, options: StoreOptions) {
  yield* checkFolder(folder)
  if (!isRemote(folder)) yield* makeFolder(folder)
  const store = yield* connectStore(folder, options)
  yield* Effect.addFinalizer(() => Effect.sync(() => evictStore(store)))
  yield* checkConditionalWrites(store)
  const files = yield* openFiles(store)
  const snapshots = yield* openSnapshots(store)
  const collections = yield* openOrCreate(store, {
    name: "collections",
    schema: collectionsSchema,
    key: "name"
  })
  const scope = yield* Effect.scope
  const collectionStore: CollectionStore = {
    background: (effect) => Effect.asVoid(Effect.forkIn(effect, scope, { startImmediately: true })),
    collectGarbage: collectGarbage(store.connection, collections, files, snapshots, !isEnterprise(folder)),
    compacts: !isEnterprise(folder),
    formats: yield* storedFormats,
    openAt: (table, version) => store.connection.openTable(table, undefined, { version }),
    caches: !isEnterprise(folder),
    store,
    prune: (table, name) =>
      Effect.flatMap(snapshots.list(), (kept) => pruneVersions(table, name, kept, options))
  }
  return {
    ...store,
    collections,
    files,
    names: openNames(collections),
    snapshots,
    collectionStore,
    /** By table. A table is opened once, so that all its users share its state and take turns in writing. */
    opened: new Map<string, DroppableCollection>(),
    /** By table: see `liveCollection`. */
    live: new Map<string, Collection>()
  }
})

const openTable = Effect.fn("LanceIndex.openTable")(function* (
  { collectionStore, connection, files, opened, writing }: OpenStore,
  name: string,
  table: string,
  manifest: Manifest
) {
  const known = opened.get(table)
  if (known !== undefined) return known
  const tables = yield* attempt("open", `opening collection "${name}"`, async () => ({
    table: await connection.openTable(table),
    written: await writing.openTable(table)
  }))
  const collection = yield* openCollection(name, manifest, tables, files, collectionStore)
  opened.set(table, collection)
  return collection
})

/**
 * A write fails with `Stale` if the name refers to another table after it: another process may have rebuilt or restored
 * the collection, and the write would be lost.
 */
const liveCollection = ({ live, names }: OpenStore, name: string, table: string, collection: Collection) => {
  const { adopt, commit, remove } = collection
  const current = names.settled(name, table)
  const known = live.get(table) ?? {
    ...collection,
    commit: (documents) => Effect.andThen(commit(documents), current),
    adopt: (documents) => Effect.andThen(adopt(documents), current),
    remove: (ids) => Effect.andThen(remove(ids), current)
  }
  live.set(table, known)
  return known
}

/** What a name refers to, in the present format if it can be migrated. */
const findCurrent = (store: OpenStore, name: string) =>
  findMigrated(store.connection, store.names, name, (manifest) => makeTable(store, manifest))

const open = (store: OpenStore): Service["open"] =>
  Effect.fn("LanceIndex.open")(function* (name, manifest) {
    let found = yield* findCurrent(store, name)
    if (found === undefined) {
      yield* store.names.add(name, yield* makeTable(store, manifest), manifest)
      // Read again: another process may have added the name first.
      found = yield* findCurrent(store, name)
    }
    if (found === undefined) {
      const message = `Collection "${name}" was written and cannot be found. Check that the folder's file system keeps what is written.`
      return yield* new RagError({ stage: "open", reason: "Store", message })
    }
    yield* checkManifest({ collection: name }, found.manifest, manifest)
    const opened = yield* openTable(store, name, found.table, found.manifest)
    return liveCollection(store, name, found.table, opened)
  })

const existing = (store: OpenStore): Service["existing"] =>
  Effect.fn("LanceIndex.existing")(function* (name) {
    const found = yield* findCurrent(store, name)
    return found && (yield* openTable(store, name, found.table, found.manifest))
  })

const replace = (store: OpenStore): Service["replace"] =>
  Effect.fn("LanceIndex.replace")(function* (name, manifest) {
    const found = yield* findCurrent(store, name)
    const prefix = found && rebuildPrefix(name, found.table, manifest)
    const table = yield* makeTable(store, manifest, prefix)
    const next = yield* openTable(store, name, table, manifest)
    if (prefix !== undefined) yield* resumeRebuild(store.connection, prefix, table)
    return {
      current: found && (yield* openTable(store, name, found.table, found.manifest)),
      next,
      publish: (last) => store.names.move(name, found?.table, table, manifest, last)
    }
  })

const findCollection = Effect.fn("LanceIndex.find")(function* ({ names }: OpenStore, name: string) {
  const found = yield* names.find(name)
  if (found !== undefined) return found
  const message = `There is no collection "${name}". List the collections, or ingest into one to create it.`
  return yield* new RagError({ stage: "store", reason: "NotFound", message })
})

const tag = (store: OpenStore): Service["tag"] =>
  Effect.fn("LanceIndex.tag")(function* (name, snapshot) {
    const made = yield* snapshotOf(store.connection, name, snapshot, yield* findCollection(store, name))
    yield* store.snapshots.put(made)
    return made
  })

/** A snapshot made with the present format and model. */
const findSnapshot = Effect.fn("LanceIndex.findSnapshot")(function* (
  { snapshots }: OpenStore,
  name: string,
  snapshot: string,
  manifest: Manifest
) {
  const found = yield* snapshots.find(name, snapshot)
  yield* checkManifest({ collection: name, snapshot }, found.manifest, manifest)
  return found
})

const checkout = (store: OpenStore): Service["checkout"] =>
  Effect.fn("LanceIndex.checkout")(function* (name, snapshot, manifest) {
    const { manifest: stored, table, version } = yield* findSnapshot(store, name, snapshot, manifest)
    const opened = yield* attempt("open", `opening snapshot "${snapshot}"`, () =>
      store.connection.openTable(table, undefined, { version })
    )
    const reading = { ...store.collectionStore, compacts: false }
    const tables = { table: opened, written: opened }
    return readOnly(snapshot, yield* openCollection(name, stored, tables, store.files, reading))
  })

const restore = (store: OpenStore): Service["restore"] =>
  Effect.fn("LanceIndex.restore")(function* (name, snapshot, manifest) {
    const { manifest: stored, table, version } = yield* findSnapshot(store, name, snapshot, manifest)
    yield* attemptWrite("store", `restoring snapshot "${snapshot}"`, () =>
      withTable(store.connection, table, async (opened) => {
        await opened.checkout(version)
        await opened.restore()
      })
    )
    // The snapshot may be of the table before a rebuild.
    yield* store.names.put(name, table, stored)
  })

const drop = (store: OpenStore): Service["drop"] =>
  Effect.fn("LanceIndex.drop")(function* (name) {
    const { collectionStore, collections, connection, live, opened, snapshots } = store
    const { table } = yield* findCollection(store, name)
    const kept = yield* snapshots.list(name)
    // The name goes first: after a crash the rest is garbage, not a collection that cannot be read.
    yield* attemptWrite("store", `removing collection "${name}"`, () =>
      collections.delete(`name = ${sqlString(name)}`)
    )
    yield* Effect.forEach(kept, snapshots.remove, { discard: true })
    for (const own of new Set([table, ...kept.map((snapshot) => snapshot.table)])) {
      const collection = opened.get(own)
      const dropTable = attemptWrite("store", `dropping table ${own}`, () => connection.dropTable(own))
      opened.delete(own)
      live.delete(own)
      yield* collection === undefined ? dropTable : collection.dropWith(dropTable)
    }
    const collected = Effect.catchTag(collectionStore.collectGarbage, "RagError", ({ message }) =>
      Effect.logWarning(`Files that only collection "${name}" used were not removed: ${message}`)
    )
    yield* collectionStore.background(collected)
  })

const listCollections = ({ collections }: OpenStore): Effect.Effect<ReadonlyArray<string>, RagError> =>
  selectRows<{ readonly name: string }>(collections, ["open", "listing the collections"], ["name"]).pipe(
    Effect.catchIf(isUnreadable, () => readableRows<{ readonly name: string }>(collections, ["name"])),
    Effect.map((rows) => rows.map(({ name }) => name).toSorted()),
    Effect.withSpan("LanceIndex.collections")
  )

/** Characters of a table's name. */
const TABLE_NAME = 34

const makeTable = Effect.fn("LanceIndex.makeTable")(function* (
  { connection, folder }: OpenStore,
  manifest: Manifest,
  prefix = "c_"
) {
  const name = `${prefix}${randomUUID().replaceAll("-", "")}`.slice(0, TABLE_NAME)
  yield* attempt("open", "creating a table", async () => {
    const table = await connection.createEmptyTable(name, passagesSchema(manifest.dimension))
    await setKey(folder, table, "id")
    await table.createIndex("search", { config: keywordIndex() })
  })
  return name
})

const make = Effect.fn("LanceIndex.make")(function* (folder: string, options: StoreOptions = {}) {
  const store = yield* openStore(folder, options)
  const { snapshots } = store
  return PassageIndex.of({
    open: open(store),
    existing: existing(store),
    replace: replace(store),
    collections: listCollections(store),
    tag: tag(store),
    tags: snapshots.list,
    untag: (name, snapshot) => Effect.flatMap(snapshots.find(name, snapshot), snapshots.remove),
    checkout: checkout(store),
    restore: restore(store),
    drop: drop(store),
    vectors: (model, dimension) => openVectors(store, model, dimension)
  })
})

const repair = Effect.fn("LanceIndex.repair")(function* (folder: string, drops: boolean) {
  const connection = yield* connect(folder)
  const names = yield* attempt("open", "listing tables", () => connection.tableNames({ limit: 100_000 }))
  const open = (table: string) => attempt("open", `opening table ${table}`, () => connection.openTable(table))
  const faults: Array<string> = []
  for (const name of names) {
    if (yield* opens(open(name))) continue
    faults.push(`the newest version of table ${name} cannot be opened`)
    // Without its newest version, `collections` may lack a name, and the collection's table would be dropped after a day.
    if (drops && name !== "collections") yield* setVersionAside(folder, name)
  }
  if (!drops && faults.length > 0) return faults
  const dropped = drops ? "all" : "none"
  const store = yield* openStore(folder, {})
  const found = yield* repairRows(store.collections, ["name", "table", "manifest"], "none")
  if (found.faults.length > 0)
    faults.push("A collection cannot be found. Restore `collections.lance` from a copy")
  for (const name of names.filter((name) => name === "files" || name.startsWith("vectors_")))
    faults.push(
      ...(yield* repairRows(yield* open(name), ["sha256"], dropped)).faults.map(
        (fault) => `${name}: ${fault}`
      )
    )
  for (const name of yield* listCollections(store)) {
    const damage = yield* Effect.gen(function* () {
      const { manifest, table } = yield* findCollection(store, name)
      return (yield* repairCollection(yield* open(table), manifest.dimension, dropped)).faults
    }).pipe(Effect.catch(({ message }) => Effect.succeed([message])))
    faults.push(...damage.map((fault) => `collection "${name}": ${fault}`))
  }
  return faults
}, Effect.scoped)

/** Only what was compacted during a copy is copied again: a second copy takes less time, and sees fewer changes. */
const COPIES = 100

/** The tables that name other tables. */
const NAMING = new Set(["collections", "snapshots"])

/** The tables that a folder's collections and snapshots refer to. */
const namedTables = Effect.fnUntraced(function* (folder: string, tables: ReadonlyArray<string>) {
  const connection = yield* connect(folder)
  const rows = yield* Effect.forEach(tables, (name) =>
    Effect.flatMap(
      attempt("store", `opening table ${name}`, () => connection.openTable(name)),
      (table) => selectRows<{ readonly table: string }>(table, ["store", `reading table ${name}`], ["table"])
    )
  )
  return rows.flat().map(({ table }) => table)
}, Effect.scoped)

/** Copies the library once. False if a file was dropped before it was copied. */
const copyOnce = Effect.fnUntraced(function* (folder: string, target: string) {
  const files = yield* attempt("store", `listing ${folder}`, () => listLibraryFiles(folder))
  const tableOf = (path: string) => path.slice(0, path.indexOf(".lance"))
  const copyAll = (paths: ReadonlyArray<string>) =>
    Effect.forEach(paths, (path) =>
      attempt("store", `copying ${path}`, () => copyLibraryFile(folder, target, path))
    ).pipe(Effect.map((copied) => copied.every(Boolean)))
  const naming = files.filter((path) => NAMING.has(tableOf(path)))
  if (!(yield* copyAll(naming))) return false
  const named = new Set(yield* namedTables(target, Array.dedupe(naming.map(tableOf))))
  // A table without a name is garbage, or a rebuild in progress.
  const kept = files.filter((path) => !path.startsWith("c_") || named.has(tableOf(path)))
  if (!(yield* copyAll(kept))) return false
  yield* attempt("store", `copying to ${target}`, () => keepLibraryFiles(target, kept))
  return true
})

const copy = Effect.fn("LanceIndex.copy")(function* (folder: string, target: string) {
  yield* checkFolder(folder)
  yield* makeFolder(target)
  for (let n = 0; n < COPIES; n++) if (yield* copyOnce(folder, target)) return
  const message = `The library in ${folder} was compacted ${COPIES} times while it was copied. Run it again.`
  return yield* new RagError({ stage: "store", reason: "Store", message })
})

/** Files by names of one's own, in the table `files` of a store. */
export interface FileStore {
  /** Replaces a file of that name. */
  readonly put: (files: ReadonlyMap<string, Uint8Array>) => Effect.Effect<void, RagError>
  readonly get: (name: string) => Effect.Effect<Uint8Array | undefined, RagError>
  readonly remove: (names: ReadonlyArray<string>) => Effect.Effect<void, RagError>
  readonly names: Effect.Effect<ReadonlyArray<string>, RagError>
  /** Drops old versions and the space of removed files. */
  readonly maintain: Effect.Effect<void, RagError>
}

const files = Effect.fn("LanceIndex.files")(function* (folder: string, options: StoreOptions = {}) {
  yield* checkFolder(folder)
  if (!isRemote(folder)) yield* makeFolder(folder)
  const { get, keys, opened, put, remove } = yield* openFiles(yield* connectStore(folder, options))
  const fileStore: FileStore = {
    put,
    get: (name) => get(name, false),
    remove,
    names: keys,
    maintain: Effect.flatMap(opened, (table) => pruneVersions(table, "files", [], options))
  }
  return fileStore
})

/**
 * `LanceIndex.layer(folder | url, options)`: a store in a folder, which is created if missing; on an object store
 * (`s3://`, `gs://`, `az://`); or on LanceDB Enterprise (`db://`).
 *
 * **Gotchas.** Any number of processes may read and write the same folder. Each sees the commits of the others.
 */
export const LanceIndex = {
  /**
   * Says what is damaged in a folder that nobody uses. With `drops` it removes that, so that everything else can be used:
   * rows that cannot be read, documents without a readable description, and versions that cannot be opened. It then
   * builds the indexes again.
   */
  repair: (folder: string, drops: boolean): Effect.Effect<ReadonlyArray<string>, RagError> =>
    repair(folder, drops),
  /**
   * Copies a library's folder while processes write to it: each collection as it is at one moment, with its snapshots and
   * original files. For object stores, use their own copies of versions.
   */
  copy: (folder: string, target: string): Effect.Effect<void, RagError> => copy(folder, target),
  /** Files that belong to no document, such as generated pictures. A store of its own: libraries drop what they do not name. */
  files: (folder: string, options?: StoreOptions): Effect.Effect<FileStore, RagError, Scope.Scope> =>
    files(folder, options),
  layer: (folder: string, options?: StoreOptions): Layer.Layer<PassageIndex, RagError> =>
    Layer.effect(PassageIndex, make(folder, options))
}
