/** One table `c_<uuid>`: documents and their passages, written whole, searched by cosine. */
import { Effect, Semaphore } from "effect"
import type { DocumentInfo } from "../../document/Document.ts"
import type { Collection, StoredDocument } from "../PassageIndex.ts"
import type { Manifest } from "../Manifest.ts"
import { RagError } from "../../document/RagError.ts"
import { attempt, attemptWrite, sqlIn, sqlString, type Table, upsert } from "./Lance.ts"
import { tableCache } from "./TableCache.ts"
import type { LanceFiles } from "./LanceFiles.ts"
import { documentRow, documentRowId, rowsOf, toArrow, toPassage, toStored } from "./LanceRows.ts"
import { lanceFilter } from "./LanceFilter.ts"
import { candidates, measureIndex, measuredIndex } from "./LanceRecall.ts"
import { searchTable } from "./LanceSearch.ts"
import { compact, indexStats, isScattered, maintainIndex, settleIndex, sweep } from "./LanceVectorIndex.ts"

/** Rows that are passages of any kind. */
const PASSAGES = "ordinal IS NOT NULL AND kind <> 'gone'"

/** Identifiers in one filter. */
const FILTER_IDS = 500

/** Another process may have measured the index: after so many questions what it found is read again. */
const MEASURED_FOR = 40

/** What is done besides answering. */
export interface Upkeep {
  /** Runs on after the caller has gone on, until the store is closed. */
  readonly background: (effect: Effect.Effect<void>) => Effect.Effect<void>
  /** False where the store compacts and prunes by itself. */
  readonly compacts: boolean
  readonly prune: (table: Table, name: string) => Effect.Effect<void, RagError>
  /** The table at a version; absent where reading a whole one costs more than time. */
  readonly openAt: ((table: string, version: number) => Promise<Table>) | undefined
  /** Stands for the store: what is held in memory of it is let go when it is closed. */
  readonly store: object
  readonly collectGarbage: Effect.Effect<void, RagError>
}

/** The collection over an open table. */
export const collectionOf = Effect.fn("LanceCollection.make")(function* (
  name: string,
  manifest: Manifest,
  table: Table,
  files: LanceFiles,
  { background, collectGarbage, compacts, openAt, prune, store }: Upkeep
) {
  // LanceDB refuses to say it while a call is under way.
  const tableName = table.name
  // One writer at a time within the process; LanceDB sorts out the processes.
  const writer = yield* Semaphore.make(1)
  // One at a time learns or joins; searches and writes go on.
  const indexer = yield* Semaphore.make(1)
  let measured = yield* measuredIndex(table)
  let dropped = false

  const commit: Collection["commit"] = Effect.fn("LanceCollection.commit")(function* (documents) {
    if (documents.length === 0) return
    yield* checkUnique(documents.map(({ info }) => info.id))
    yield* files.put(
      new Map(
        documents.flatMap(({ attachments, info, original }) => [
          [info.sha256, original] as const,
          ...attachments
        ])
      )
    )
    const own = sqlIn(
      "document",
      documents.map(({ info }) => info.id)
    )
    const rows = rowsOf(documents, { gone: true })
    const { numInsertedRows } = yield* attemptWrite("ingest", "writing passages", () =>
      upsert(table, "id", toArrow(rows, manifest.dimension))
    )
    // Every row is new, those of the documents too: nobody else has written any of them.
    if (numInsertedRows === rows.length) return
    // More rows than were written belong to another writer, who was here since the documents were looked up: its
    // passages must not stay among ours. Deleting by source reads the whole table, so it is kept for this case.
    const written = documents.reduce((sum, { passages }) => sum + passages.length + 1, 0)
    const there = yield* attempt("ingest", "counting what was written", () =>
      table.countRows(`kind <> 'gone' AND ${own}`)
    )
    if (there !== written) {
      yield* attemptWrite("ingest", "writing passages over another writer's", () =>
        table
          .mergeInsert("id")
          .whenMatchedUpdateAll()
          .whenNotMatchedInsertAll()
          .whenNotMatchedBySourceDelete({ where: own })
          .execute(toArrow(rowsOf(documents, { gone: false }), manifest.dimension))
      )
    }
  }, writer.withPermit)

  const adopt: Collection["adopt"] = Effect.fn("LanceCollection.adopt")(function* (stored) {
    if (stored.length === 0) return
    const rows = stored.map(({ info, ...known }) => documentRow(info, known))
    yield* attemptWrite("ingest", "recording where documents come from", () =>
      table.mergeInsert("id").whenMatchedUpdateAll().execute(toArrow(rows, manifest.dimension))
    )
  }, writer.withPermit)

  const remove: Collection["remove"] = Effect.fn("LanceCollection.remove")(function* (ids) {
    for (let i = 0; i < ids.length; i += FILTER_IDS) {
      yield* attemptWrite("ingest", "removing documents", () =>
        table.delete(sqlIn("document", ids.slice(i, i + FILTER_IDS)))
      )
    }
  }, writer.withPermit)

  const passages: Collection["passages"] = Effect.fn("LanceCollection.passages")(function* (document) {
    const rows: ReadonlyArray<Record<string, unknown>> = yield* attempt("store", "reading passages", () =>
      table
        .query()
        .where(`${PASSAGES} AND ${sqlIn("document", [document])}`)
        .select(["passage"])
        .toArray()
    )
    return rows.map((row) => toPassage(row["passage"] as string)).toSorted((a, b) => a.ordinal - b.ordinal)
  })

  const documentRows = attempt("store", "listing documents", async () => {
    const rows = await table.query().where("kind = 'document'").select(["document", "metadata"]).toArray()
    return rows as ReadonlyArray<Record<string, unknown>>
  })

  const documents: Collection["documents"] = documentRows.pipe(
    Effect.map((rows) => rows.map((row) => toStored(row, true).info)),
    Effect.withSpan("LanceCollection.documents")
  )

  // Reading them takes long where there are many; they change with the table's version.
  let seen: { readonly version: number; readonly documents: ReadonlyArray<DocumentInfo> } | undefined
  const documentsAsOfNow = Effect.gen(function* () {
    const version = yield* attempt("retrieve", "looking at the version", () => table.version())
    if (seen?.version !== version) seen = { version, documents: yield* documents }
    return seen.documents
  })

  const cache = openAt && tableCache(store, manifest.dimension, (version) => openAt(tableName, version))
  const recall = searchTable(table, manifest.dimension, (limit) => candidates(limit, measured), cache)
  let questions = 0
  const remeasured = Effect.map(measuredIndex(table), (now) => {
    measured = now
  })
  const search: Collection["search"] = Effect.fnUntraced(function* (query) {
    if (++questions % MEASURED_FOR === 0) yield* background(Effect.ignore(remeasured))
    if (cache?.shouldLoad() === true) {
      // Where it cannot be read, searches say so.
      yield* background(Effect.ignore(attempt("retrieve", "reading passages", () => cache.load(table))))
    }
    if (query.filter === undefined) return yield* recall(query, undefined)
    const { holds, where } = yield* lanceFilter(query.filter, documentsAsOfNow)
    return (yield* recall(query, where)).filter(({ passage }) => holds(passage))
  })

  const inventory: Collection["inventory"] = Effect.gen(function* () {
    const rows = yield* documentRows
    const counts = yield* attempt("store", "counting passages", async () => {
      const found = new Map<string, number>()
      for await (const batch of table.query().where(PASSAGES).select(["document"])) {
        for (const id of batch.getChildAt(0) ?? []) found.set(id, (found.get(id) ?? 0) + 1)
      }
      return found
    })
    return rows.map((row): StoredDocument => {
      const stored = toStored(row, true)
      return { ...stored, whole: (counts.get(stored.info.id) ?? 0) === stored.info.passages }
    })
  }).pipe(Effect.withSpan("LanceCollection.inventory"))

  const document: Collection["document"] = Effect.fn("LanceCollection.document")(function* (id) {
    const rows: ReadonlyArray<Record<string, unknown>> = yield* attempt("store", "reading a document", () =>
      table
        .query()
        .where(`id = ${sqlString(documentRowId(id))}`)
        .select(["document", "metadata"])
        .limit(1)
        .toArray()
    )
    return rows[0] && toStored(rows[0], true)
  })

  const passageCount: Collection["passageCount"] = attempt("store", "counting passages", () =>
    table.countRows(PASSAGES)
  )

  const measure = Effect.map(measureIndex(table), (now) => {
    measured = now
  })

  const beside = (work: Effect.Effect<void, RagError>, otherwise: string): Effect.Effect<void> =>
    Effect.suspend(() => (dropped ? Effect.void : work)).pipe(
      Effect.catch(({ message }) => Effect.logWarning(`The collection's ${otherwise}: ${message}`)),
      indexer.withPermit
    )

  const settle: Collection["settle"] = Effect.gen(function* () {
    yield* writer.withPermit(sweep(table))
    if (!compacts) return
    const { anew, indexed } = yield* indexer.withPermit(settleIndex(table, manifest.dimension))
    // What was measured is of the index before. The new one is searched as thoroughly as an unmeasured one until then.
    if (anew) measured = undefined
    if (yield* isScattered(table)) {
      yield* background(beside(compact(table), "files were not joined"))
    }
    // Whoever made the index may have been killed before it was measured.
    if (anew || (indexed && (yield* measuredIndex(table)) === undefined)) {
      // To its end, even where the store is closed now: programs that end with their ingest leave a measured index.
      yield* background(Effect.uninterruptible(beside(measure, "index was not measured")))
    }
  }).pipe(Effect.withSpan("LanceCollection.settle"))

  const maintain: Collection["maintain"] = Effect.gen(function* () {
    yield* writer.withPermit(sweep(table))
    if (!compacts) return
    if (yield* maintainIndex(table, manifest.dimension)) yield* measure
    yield* prune(table, tableName)
  }).pipe(indexer.withPermit, Effect.andThen(collectGarbage), Effect.withSpan("LanceCollection.maintain"))

  // What is under way would write on into the folder that is removed, and tell that it is gone.
  const dropWith = <E>(drop: Effect.Effect<void, E>): Effect.Effect<void, E> =>
    Effect.andThen(
      Effect.sync(() => {
        dropped = true
      }),
      Effect.tap(drop, () => Effect.sync(() => cache?.evict()))
    ).pipe(writer.withPermit, indexer.withPermit)

  return {
    name,
    manifest,
    dropWith,
    commit,
    adopt,
    remove,
    search,
    passages,
    documents,
    inventory,
    document,
    original: files.get,
    passageCount,
    stats: indexStats(table),
    settle,
    maintain
  } satisfies DroppableCollection
})

/** A collection whose table may be dropped. */
export interface DroppableCollection extends Collection {
  /** Drops it when nothing is written or joined; what waits for its turn beside it comes to nothing. */
  readonly dropWith: <E>(drop: Effect.Effect<void, E>) => Effect.Effect<void, E>
}

/** LanceDB would insert both of two equal keys of one batch. */
const checkUnique = (ids: ReadonlyArray<string>): Effect.Effect<void, RagError> =>
  new Set(ids).size === ids.length
    ? Effect.void
    : Effect.fail(
        new RagError({
          stage: "ingest",
          reason: "Internal",
          message: "Two documents of one commit have the same identifier. Please report this."
        })
      )
