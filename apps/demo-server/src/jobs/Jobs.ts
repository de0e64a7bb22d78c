/** Submits, finds and cancels jobs. `JobRunner` runs them, at this server or another. */
import { Failure } from "@sluice/core/contract"
import type { Upload } from "@sluice/rag"
import { Clock, Context, Duration, Effect, Layer, Schedule, Schema, Stream } from "effect"
import { PersistedQueue } from "effect/persistence"
import { SqlClient } from "effect/sql"
import { CurrentCaller } from "../accounts/Caller.ts"
import { JOB_DAYS } from "../contract/Documents.ts"
import { JOB_QUEUE } from "../database/Migrations.ts"
import { makeNamedFiles, type NamedFiles } from "../media/NamedFiles.ts"
import { catchSqlError } from "../sql/StoreFailure.ts"
import { toJobCaller } from "./JobCaller.ts"
import { type JobFile, type JobResult, JobTable, newJobId, timeOfJob, toJob } from "./JobTable.ts"

/** A worker renews its lock on a job every ten seconds. Without a renewal, another takes the job over after this time. */
const LOCK_EXPIRATION = Duration.seconds(30)
const LOCK_REFRESH = Duration.seconds(10)

/** How often an idle worker asks the database for jobs of other servers. */
const POLL_INTERVAL = Duration.seconds(2)

/** A killed worker costs its job an attempt. */
const ATTEMPTS = 10

const GIVEN_UP: JobResult = {
  error: {
    code: "internal",
    message: `The job was begun ${ATTEMPTS} times, and each time its server ended. Send less at a time`
  }
}

/** Files of an upload that was interrupted before it became a job. */
const ABANDONED = Duration.days(1)

const QUEUE_OPTIONS = {
  tableName: JOB_QUEUE,
  lockExpiration: LOCK_EXPIRATION,
  lockRefreshInterval: LOCK_REFRESH,
  pollInterval: POLL_INTERVAL
}

const notFound = (id: string) =>
  new Failure({
    status: 404,
    message: `There is no job \`${id.slice(0, 80)}\`. GET /jobs lists yours of the last ${JOB_DAYS} days`,
    code: "not_found",
    param: "id"
  })

const notStored = new Failure({
  status: 503,
  message: "The files could not be stored. The disk or store is full, not writable, or out of reach",
  code: "storage_unavailable",
  retryable: true
})

const makeQueue = (name: string) =>
  PersistedQueue.make({ name, schema: Schema.Struct({ job: Schema.String }), maxAttempts: ATTEMPTS })

/** A slow job keeps none of another kind waiting. */
const makeQueues = Effect.all({
  queue: makeQueue("jobs"),
  /** Uploads of one file, which may be one that an open page shows. */
  fileQueue: makeQueue("files"),
  /** Runs of sources. */
  sourceQueue: makeQueue("sources"),
  /** Saved files of followed folders. */
  changeQueue: makeQueue("changes")
})

const discardFrom = (files: NamedFiles) => (stored: ReadonlyArray<Pick<JobFile, "name">>) => {
  const names = stored.map(({ name }) => name)
  return Effect.ignore(Effect.andThen(files.remove(names), files.maintain))
}

/** Deletes old jobs, and files of uploads that never became a job. */
const cleanUp = (table: JobTable["Service"], files: NamedFiles) =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    yield* table.removeBefore(now - Duration.toMillis(Duration.days(JOB_DAYS)))
    const needed = yield* table.unended
    const old = (yield* files.names).flatMap((name) => {
      const id = name.slice(0, name.lastIndexOf("-"))
      return needed.has(id) || timeOfJob(id) > now - Duration.toMillis(ABANDONED) ? [] : [{ name }]
    })
    if (old.length > 0) yield* discardFrom(files)(old)
  }).pipe(Effect.catchCause((cause) => Effect.logWarning("Old jobs could not be removed", cause)))

/** Ends jobs that the queue has given up. */
const endGivenUp = (table: JobTable["Service"], files: NamedFiles) =>
  Effect.flatMap(table.endGivenUp(GIVEN_UP), (ended) =>
    Effect.forEach(ended, (job) => discardFrom(files)(job.files), { discard: true })
  ).pipe(Effect.catchCause((cause) => Effect.logWarning("Jobs that failed could not be ended", cause)))

const makeJobs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = yield* JobTable
  const files = yield* makeNamedFiles("uploads")
  const queues = yield* makeQueues
  const discard = discardFrom(files)

  const submit = Effect.fnUntraced(function* (
    id: string,
    job: Pick<Parameters<typeof table.add>[0], "kind" | "collection" | "files" | "bytes" | "owner">
  ) {
    const caller = toJobCaller(yield* CurrentCaller)
    const offered = (job.files.length === 1 ? queues.fileQueue : queues.queue).offer({ job: id }, { id })
    // Both or neither. The id of the job is that of the queue, which takes it once.
    const added = table
      .add({ ...job, id, caller })
      .pipe(Effect.tap(Effect.orDie(offered)), sql.withTransaction)
    const row = yield* catchSqlError(added)
    return row === undefined ? yield* notFound(id) : toJob(row)
  })

  const find = Effect.fnUntraced(function* (id: string, user: string) {
    // PostgreSQL rejects NUL in text.
    const row = id.includes("\0") ? undefined : yield* catchSqlError(table.find(id, user))
    return row ?? (yield* notFound(id))
  })

  yield* Effect.forkScoped(Effect.repeat(cleanUp(table, files), Schedule.spaced("1 hour")))
  yield* Effect.forkScoped(Effect.repeat(endGivenUp(table, files), Schedule.spaced(LOCK_EXPIRATION)))

  return {
    table,
    ...queues,
    attempts: ATTEMPTS,
    /** Stores the files of an upload, and adds a job that ingests them. Undefined if there is no file. */
    upload: Effect.fn("Jobs.upload")(function* <E>(
      collection: string,
      owner: string,
      uploads: Stream.Stream<Upload, E>
    ) {
      const id = yield* newJobId
      const stored: Array<JobFile> = []
      let bytes = 0
      const store = Effect.fnUntraced(function* (upload: Upload) {
        const name = `${id}-${stored.length}`
        yield* Effect.mapError(files.put(name, upload.bytes), () => notStored)
        bytes += upload.bytes.length
        const metadata = upload.metadata as JobFile["metadata"]
        stored.push({ name, path: upload.path, ...(metadata !== undefined && { metadata }) })
      })
      return yield* Stream.runForEach(uploads, store).pipe(
        Effect.andThen(
          Effect.suspend(() =>
            stored.length === 0
              ? Effect.undefined
              : submit(id, { kind: "ingest", collection, owner, files: stored, bytes })
          )
        ),
        Effect.onError(() => discard(stored))
      )
    }),
    rebuild: Effect.flatMap(newJobId, (id) =>
      submit(id, { kind: "rebuild", collection: null, files: [], bytes: 0 })
    ),
    /** Adds a run of a source, in the transaction of its caller. */
    sync: Effect.fn("Jobs.sync")(function* (
      id: string,
      job: Pick<Parameters<typeof table.add>[0], "caller" | "collection" | "source">
    ) {
      yield* table.add({ ...job, id, kind: "sync", files: [], bytes: 0 })
      const isChange = job.source?.paths !== undefined
      yield* Effect.orDie((isChange ? queues.changeQueue : queues.sourceQueue).offer({ job: id }, { id }))
    }),
    /** The files of an upload, one after the other. */
    read: (stored: ReadonlyArray<JobFile>) =>
      Stream.fromIterable(stored).pipe(
        Stream.mapEffect(({ metadata, name, path }) =>
          Effect.map(
            Effect.flatMap(files.find(name), (file) => file?.read ?? Effect.undefined),
            (bytes) =>
              bytes === undefined ? undefined : { path, bytes, ...(metadata !== undefined && { metadata }) }
          )
        )
      ),
    discard,
    find: (id: string, user: string) => Effect.map(find(id, user), toJob),
    list: (user: string) => Effect.map(catchSqlError(table.list(user)), (rows) => rows.map(toJob)),
    cancel: Effect.fn("Jobs.cancel")(function* (id: string, user: string) {
      const { files: stored } = yield* find(id, user)
      yield* catchSqlError(table.end(id, "cancelled", {}))
      yield* discard(stored)
      return toJob(yield* find(id, user))
    }),
    /** Bytes of uploads to the user's library that are not in it yet. */
    waitingBytes: (user: string) => catchSqlError(table.bytes(user))
  }
})

export class Jobs extends Context.Service<Jobs>()("@sluice/demo-server/Jobs", { make: makeJobs }) {
  static readonly layer = Layer.effect(Jobs, Jobs.make).pipe(Layer.provideMerge(JobTable.layer))
}

/** The queues, in the accounts' database. */
export const QueueLayer = Layer.mergeAll(
  PersistedQueue.layer,
  PersistedQueue.layerCleanup({
    timeToLive: Duration.days(JOB_DAYS),
    failedTimeToLive: Duration.days(JOB_DAYS)
  })
).pipe(Layer.provide(PersistedQueue.layerStoreSql(QUEUE_OPTIONS)))
