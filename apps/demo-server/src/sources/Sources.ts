/** Starts the runs of sources: when they are due, on request, and when a watched folder changes. `SourceRunner` works on them. */
import { Clock, Context, Effect, FiberMap, Layer, Schedule, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Jobs } from "../jobs/Jobs.ts"
import { newJobId } from "../jobs/JobTable.ts"
import { makeSourceReading } from "./SourceReading.ts"
import { nextRun } from "./SourceSchedule.ts"
import { collectionOf, makeSourceStore, type StoredSource } from "./SourceStore.ts"

/** How often due sources are looked for. */
const LOOK = "5 seconds"

/** Runs of one user that wait or run: the sources of others get their turn. */
const RUNS_PER_USER = 3

/** How often a change of a file is tried again while an earlier one is read. */
const RETRY = "500 millis"

export class Sources extends Context.Service<Sources>()("@sluice/demo-server/Sources", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const jobs = yield* Jobs
    const store = yield* makeSourceStore
    const reading = yield* makeSourceReading
    const watches = yield* FiberMap.make<string>()

    const addJob = (id: string, row: StoredSource, paths?: ReadonlyArray<string>) =>
      jobs.sync(id, {
        caller: row.caller,
        collection: collectionOf(row, row.user_id),
        source: { id: row.id, ...(paths !== undefined && { paths }) }
      })

    /** Adds a run, if this server is the one to start it. */
    const start = (row: StoredSource) =>
      Effect.gen(function* () {
        const id = yield* newJobId
        const now = yield* Clock.currentTimeMillis
        const next = row.paused === 1 ? null : nextRun(row.schedule, now)
        if (yield* store.claim(row, id, next, now)) yield* addJob(id, row)
      }).pipe(sql.withTransaction)

    /** Adds a job for those of the paths that no other job reads, and returns them. */
    const startChanges = (row: StoredSource, paths: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        const claimed = yield* store.claimChanges(row.id, paths, yield* Clock.currentTimeMillis)
        if (claimed.length > 0) yield* addJob(yield* newJobId, row, claimed)
        return claimed
      }).pipe(sql.withTransaction)

    const watch = (row: StoredSource) =>
      Effect.gen(function* () {
        const { changes } = yield* reading.open(row)
        if (changes === undefined) return
        const waiting = new Set<string>()
        const follow = Effect.fnUntraced(function* (paths: ReadonlyArray<string>) {
          for (const path of paths) waiting.add(path)
          if (waiting.size === 0) return
          for (const path of yield* startChanges(row, [...waiting])) waiting.delete(path)
        })
        const retries = Stream.map(Stream.tick(RETRY), () => [])
        yield* Stream.runForEach(Stream.merge(changes, retries, { haltStrategy: "left" }), follow)
      }).pipe(
        Effect.scoped,
        // The next look tries again. The scheduled runs say what is wrong.
        Effect.catchCause((cause) => Effect.logDebug(`The source ${row.name} is not watched`, cause))
      )

    const watchFolders = Effect.gen(function* () {
      const rows = reading.folders.length === 0 ? [] : yield* store.watched
      const ids = new Set(rows.map(({ id }) => id))
      for (const [id] of watches) if (!ids.has(id)) yield* FiberMap.remove(watches, id)
      for (const row of rows) yield* FiberMap.run(watches, row.id, watch(row), { onlyIfMissing: true })
    })

    const look = Effect.gen(function* () {
      for (const row of yield* store.due(RUNS_PER_USER)) yield* start(row)
      yield* watchFolders
    }).pipe(Effect.catchCause((cause) => Effect.logWarning("Due sources could not be looked for", cause)))
    yield* Effect.forkScoped(Effect.repeat(look, Schedule.spaced(LOOK)))

    return { store, reading, look }
  })
}) {
  static readonly layer = Layer.effect(Sources, Sources.make)
}
