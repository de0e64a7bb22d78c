/** One table `c_<uuid>`: documents and their passages. */
import { Clock, Effect, Option, Semaphore } from "effect"
import { LRUCache } from "lru-cache"
import { storedBytesOf } from "../../document/StoredBytes.ts"
import type { RagError } from "../../document/RagError.ts"
import type { Manifest } from "../Manifest.ts"
import type { Collection } from "../PassageIndex.ts"
import { attempt, type Store, type Table } from "./Lance.ts"
import type { LanceFiles } from "./LanceFiles.ts"
import { lanceFilter } from "./LanceFilter.ts"
import { cachedDocuments, collectionReads, type LookedUp } from "./LanceReads.ts"
import { candidates, type MeasuredIndex, measureIndex, measuredIndex } from "./LanceRecall.ts"
import { repairCollection, repairing } from "./LanceRepair.ts"
import { searchTable } from "./LanceSearch.ts"
import { MANY_VERSIONS, READING_MANY_MILLIS } from "./LanceSnapshots.ts"
import {
  collectionStats,
  compact,
  isOutdated,
  maintainIndex,
  MIN_UNINDEXED,
  settleIndex,
  sweep,
  type UnindexedRows,
  unindexedTexts,
  warmKeys
} from "./LanceVectorIndex.ts"
import { type CollectionTables, collectionWrites } from "./LanceWrites.ts"
import { tableCache } from "./TableCache.ts"

/** Another process may have measured the index: after this many searches its result is read again. */
const MEASURED_FOR = 40

/** Documents between their look-up and their commit. A commit of others counts what it has written. */
const LOOKED_UP = 1_000

export interface CollectionStore {
  /** Runs in the background until the store is closed. */
  readonly background: (effect: Effect.Effect<void>) => Effect.Effect<void>
  /** False if the store compacts and prunes by itself. */
  readonly compacts: boolean
  readonly prune: (table: Table, name: string) => Effect.Effect<void, RagError>
  /** Opens a table at a version, read-only. */
  readonly openAt: (table: string, version: number) => Promise<Table>
  /** False if the store is remote: its tables are not cached. */
  readonly caches: boolean
  /** Identifies the store: closing it evicts its tables from the cache. */
  readonly store: Store
  readonly collectGarbage: Effect.Effect<void, RagError>
  /** Identifiers of the registered document formats: a filter by another one is rejected. */
  readonly formats: ReadonlyArray<string>
}

/** A collection whose table may be dropped. */
export interface DroppableCollection extends Collection {
  /** Drops the table after writes and compactions in progress. Background work that waits does nothing afterwards. */
  readonly dropWith: <E>(drop: Effect.Effect<void, E>) => Effect.Effect<void, E>
}

/**
 * Once no ingest has ended for so long, new rows are indexed: the first questions after many uploads would read up to 8,192 texts.
 * In proportion to the rows, as the work is, it takes a twentieth of the time at most.
 */
const PAUSE_MILLIS = 30_000
const PAUSE_MILLIS_OF_ROW = 0.5

const ALL_INDEXED: UnindexedRows = { unindexed: 0, rows: 0 }

type OpenTable = Effect.Success<ReturnType<typeof openTable>>

const openTable = Effect.fnUntraced(function* (
  table: Table,
  dimension: number,
  { openAt, store }: CollectionStore
) {
  const indexer = yield* Semaphore.make(1)
  const repair = () => indexer.withPermit(repairCollection(table, dimension, "some"))
  // Read here: LanceDB does not give the name during a call.
  const tableName = table.name
  return {
    table,
    tableName,
    openAt: (version: number) => openAt(tableName, version),
    dimension,
    /** One writer at a time within the process. */
    writer: yield* Semaphore.make(1),
    /** One index build or compaction at a time; searches and writes continue. */
    indexer,
    /** Repairs the table after a failed call, and runs the call again. The call must not hold `indexer`. */
    repaired: repairing(store, Effect.succeed(table), repair),
    measured: yield* measuredIndex(table),
    /** Rows of the index of documents that was read last. Another one has more, because removals only lessen it. */
    warmed: 0,
    /** Texts outside the index, when that was read last, and how many of them searches have read since it was written. */
    outside: ALL_INDEXED,
    readTexts: 0,
    /** A pass over the index waits for the one that runs. */
    settleWaits: false,
    /** How many ingests have ended, and whether a pass over the index waits for a pause between them. */
    settles: 0,
    pauseWaits: false,
    dropped: false,
    /** There may be rows for `sweep`: of this process, or of one that was killed. */
    hasGone: true,
    /** Guards changes of `bytes`, and the writes that they count. */
    counting: yield* Semaphore.make(1),
    /** `storedBytes`, once counted, of which version, and until when it is not counted again. */
    bytes: undefined as
      | { readonly sum: number; readonly version: number; readonly until: number }
      | undefined,
    /** When old versions were dropped last, or the first write, and the version of then. */
    pruned: undefined as { readonly at: number; readonly version: number } | undefined
  }
})

export const openCollection = Effect.fn("LanceCollection.make")(function* (
  name: string,
  manifest: Manifest,
  { table, written }: CollectionTables,
  files: LanceFiles,
  store: CollectionStore
) {
  const { dimension } = manifest
  const open = yield* openTable(table, dimension, store)
  const { openAt, repaired } = open
  const cache = store.caches ? tableCache(store.store, dimension, openAt) : undefined
  const lookedUp: LookedUp = new LRUCache({ max: LOOKED_UP })
  const reads = collectionReads(table, repaired, lookedUp)
  const documents = cachedDocuments(table, reads.documents)
  const infos: Collection["infos"] = Effect.fnUntraced(function* (ids) {
    const rows = cache?.rows()
    const version = rows && (yield* attempt("store", "reading the version", () => table.version()))
    return rows === undefined || version !== rows.version
      ? yield* reads.infos(ids)
      : ids.flatMap((id) => rows.info(id) ?? [])
  })
  const writes = countedWrites(
    open,
    collectionWrites({ table, written }, dimension, open.writer, lookedUp, () => {
      open.hasGone = true
    }),
    reads.infos,
    files
  )
  const pruned = pruneAfterWrites(open, written, store)
  const settled = repaired(settleCollection(open, store))
  const dropWith = <E>(drop: Effect.Effect<void, E>): Effect.Effect<void, E> =>
    Effect.suspend(() => {
      open.dropped = true
      return Effect.tap(drop, () => Effect.sync(() => cache?.evict()))
    }).pipe(open.writer.withPermit, open.indexer.withPermit)
  return {
    name,
    manifest,
    dropWith,
    ...writes,
    commit: (documents) => Effect.andThen(writes.commit(documents), pruned),
    remove: (ids) => Effect.andThen(writes.remove(ids), pruned),
    ...reads,
    infos,
    documents,
    storedBytes: storedBytesIn(open, reads.documents),
    search: searchCollection(open, cache, documents, store, settled),
    original: files.get,
    keep: files.put,
    stats: repaired(collectionStats(table)),
    settle: settled,
    maintain: repaired(maintainCollection(open, store))
  } satisfies DroppableCollection
})

type Writes = ReturnType<typeof collectionWrites>

/** Stored bytes are counted again after this time, or so many times what counting took: other processes write too. */
const COUNTED = { millis: 10_000, times: 50 } as const

/** Counted again only if the table has changed. */
const storedBytesIn = (
  open: OpenTable,
  documents: ReturnType<typeof collectionReads>["documents"]
): Effect.Effect<number, RagError> => {
  const version = attempt("store", "reading the version", () => open.table.version())
  const isCurrent = Effect.suspend(() => {
    const { bytes } = open
    if (bytes === undefined) return Effect.succeed(false)
    return Effect.flatMap(Clock.currentTimeMillis, (now) =>
      now < bytes.until ? Effect.succeed(true) : Effect.map(version, (latest) => latest === bytes.version)
    )
  })
  const count = Effect.gen(function* () {
    if (yield* isCurrent) return
    const started = yield* Clock.currentTimeMillis
    const counted = yield* version
    const sum = storedBytesOf(yield* documents)
    const ended = yield* Clock.currentTimeMillis
    const until = ended + Math.max(COUNTED.millis, COUNTED.times * (ended - started))
    open.bytes = { sum, version: counted, until }
  }).pipe(open.counting.withPermit)
  return Effect.gen(function* () {
    if (!(yield* isCurrent)) yield* count
    // Documents that another process wrote may have been removed by this one.
    return Math.max(0, open.bytes?.sum ?? 0)
  })
}

/** Keeps `open.bytes`. What a write replaces is looked up in its turn: a caller's look-up may be older than another write. */
const countedWrites = (
  open: OpenTable,
  { adopt, commit, remove }: Writes,
  stored: ReturnType<typeof collectionReads>["infos"],
  files: LanceFiles
): Writes => {
  const counted = (write: Effect.Effect<void, RagError>, ids: ReadonlyArray<string>, added: number) =>
    Effect.gen(function* () {
      if (open.bytes === undefined) return yield* open.repaired(write)
      const replaced = storedBytesOf(yield* stored(ids))
      yield* Effect.onError(open.repaired(write), () => Effect.sync(() => void (open.bytes = undefined)))
      if (open.bytes !== undefined) open.bytes = { ...open.bytes, sum: open.bytes.sum + added - replaced }
    }).pipe(open.counting.withPermit)
  return {
    adopt: (documents) => open.repaired(adopt(documents)),
    commit: (documents) => {
      const infos = documents.map(({ info }) => info)
      const ids = infos.map(({ id }) => id)
      const originals = documents.map(({ info, original }) => [info.sha256, original] as const)
      const attachments = documents.flatMap((document) => [...document.attachments])
      // Before: a damaged table of files is no reason to repair this one.
      return Effect.andThen(
        open.writer.withPermit(files.add(new Map([...originals, ...attachments]))),
        counted(commit(documents), ids, storedBytesOf(infos))
      )
    },
    remove: (ids) => counted(remove(ids), ids, 0)
  }
}

const searchCollection = (
  open: OpenTable,
  cache: ReturnType<typeof tableCache> | undefined,
  documents: ReturnType<typeof cachedDocuments>,
  { background, compacts, formats }: CollectionStore,
  settled: Effect.Effect<void, RagError>
): Collection["search"] => {
  const { dimension, repaired, table } = open
  const search = searchTable(table, dimension, (limit) => candidates(limit, open.measured), cache)
  let searches = 0
  return Effect.fnUntraced(function* (query) {
    if (++searches % MEASURED_FOR === 0) {
      yield* background(Effect.ignore(keepMeasured(open, measuredIndex(table))))
      if (compacts) yield* background(Effect.ignore(keepOutside(open)))
    }
    if (query.words !== undefined) open.readTexts += open.outside.unindexed
    if (compacts && isOutdated(open.outside, open.readTexts)) {
      open.outside = ALL_INDEXED
      yield* background(Effect.ignore(settled))
    }
    if (cache?.shouldLoad() === true) {
      // A search reports why a table cannot be read.
      yield* background(Effect.ignore(attempt("retrieve", "reading passages", () => cache.load(table))))
    }
    if (query.filter === undefined) return yield* repaired(search(query, undefined))
    const { holds, where } = yield* lanceFilter(query.filter, documents, formats)
    return (yield* repaired(search(query, where))).filter(({ passage }) => holds(passage))
  })
}

const keepMeasured = (open: OpenTable, measured: Effect.Effect<MeasuredIndex | undefined, RagError>) =>
  Effect.map(measured, (now) => {
    open.measured = now
  })

const keepOutside = (open: OpenTable) =>
  Effect.map(unindexedTexts(open.table), (now) => {
    // Another process may have added them to the index.
    if (now.unindexed < open.outside.unindexed) open.readTexts = 0
    open.outside = now
  })

/** Runs after the call has ended; a failure is logged. */
const inBackground = (
  open: OpenTable,
  work: Effect.Effect<void, RagError>,
  failure: string
): Effect.Effect<void> =>
  Effect.suspend(() => (open.dropped ? Effect.void : work)).pipe(
    Effect.catch(({ message }) => Effect.logWarning(`${failure}: ${message}`)),
    open.indexer.withPermit
  )

/**
 * Drops old versions after many commits: a list of 1,000 versions has 240 KB, and each call on an object store reads some. LanceDB
 * writes the indexes of all rows again on this occasion, so in a large collection more versions remain: 316 at 100,000 rows.
 */
const pruneAfterWrites = (
  open: OpenTable,
  written: Table,
  { background, compacts, prune }: CollectionStore
): Effect.Effect<void, RagError> =>
  Effect.gen(function* () {
    if (!compacts) return
    const at = yield* Clock.currentTimeMillis
    const version = yield* attempt("store", "reading the version", () => written.version())
    const last = (open.pruned ??= { at, version })
    const many = Math.max(MANY_VERSIONS, Math.sqrt(open.outside.rows))
    if (version - last.version < many || at - last.at < READING_MANY_MILLIS) return
    open.pruned = { at, version }
    const pruned = Effect.andThen(prune(open.table, open.tableName), keepOutside(open))
    yield* background(inBackground(open, pruned, "Old versions were not dropped"))
  })

const settleCollection = (open: OpenTable, { background, compacts }: CollectionStore) => {
  const { dimension, indexer, table, writer } = open
  const finish = Effect.fnUntraced(function* (settled: Effect.Success<ReturnType<typeof settleIndex>>) {
    const { indexed, keysOf, rebuilt, scattered, outside } = settled
    if (outside.unindexed === 0) open.readTexts = 0
    open.outside = outside
    if (outside.unindexed > MIN_UNINDEXED) yield* background(indexAtPause)
    // The measurement was of the index before.
    if (rebuilt) open.measured = undefined
    if (keysOf > open.warmed) {
      open.warmed = keysOf
      yield* background(Effect.ignore(warmKeys(table)))
    }
    if (scattered) {
      yield* background(inBackground(open, compact(table), "The collection's files were not compacted"))
    }
    // The process that built the index may have been killed before it measured it.
    const isMeasured = open.measured !== undefined || !indexed || (yield* measuredIndex(table)) !== undefined
    if (rebuilt || !isMeasured) {
      // Uninterruptible: a program that ends after its ingest leaves a measured index.
      const measuring = inBackground(
        open,
        keepMeasured(open, measureIndex(table, open.openAt)),
        "The collection's index was not measured"
      )
      yield* background(Effect.uninterruptible(measuring))
    }
  })
  const settleNow = (readTexts: number) => Effect.flatMap(settleIndex(table, dimension, readTexts), finish)
  const settleLater = Effect.suspend(() => {
    open.settleWaits = false
    return settleNow(open.readTexts)
  })
  const indexAtPause: Effect.Effect<void> = Effect.gen(function* () {
    if (open.pauseWaits) return
    open.pauseWaits = true
    for (let seen = -1; seen !== open.settles;) {
      seen = open.settles
      yield* Effect.sleep(Math.max(PAUSE_MILLIS, open.outside.rows * PAUSE_MILLIS_OF_ROW))
    }
    open.pauseWaits = false
    yield* inBackground(open, settleNow(Infinity), "New passages were not indexed")
  })
  return Effect.gen(function* () {
    open.settles++
    if (open.hasGone) {
      open.hasGone = false
      yield* Effect.onError(writer.withPermit(sweep(table)), () => Effect.sync(() => (open.hasGone = true)))
    }
    if (!compacts || open.settleWaits) return
    const settled = yield* indexer.withPermitsIfAvailable(1)(settleIndex(table, dimension, open.readTexts))
    if (Option.isSome(settled)) return yield* finish(settled.value)
    // A save is not to wait for the measurement of a large index.
    open.settleWaits = true
    yield* background(inBackground(open, settleLater, "New passages were not indexed"))
  }).pipe(Effect.withSpan("LanceCollection.settle"))
}

const maintainCollection = (open: OpenTable, { collectGarbage, compacts, prune }: CollectionStore) => {
  const { dimension, indexer, table, tableName, writer } = open
  return Effect.gen(function* () {
    // Other processes may have written.
    open.bytes = undefined
    yield* writer.withPermit(sweep(table))
    if (!compacts) return
    if (yield* maintainIndex(table, dimension, yield* measuredIndex(table)))
      yield* keepMeasured(open, measureIndex(table, open.openAt))
    yield* prune(table, tableName)
  }).pipe(indexer.withPermit, Effect.andThen(collectGarbage), Effect.withSpan("LanceCollection.maintain"))
}
