/** The sources of all users, in the accounts' database. Their runs are jobs. */
import { Clock, Effect, Schema, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { JobStatus } from "../contract/Documents.ts"
import { referenceOf } from "../contract/Names.ts"
import { type SourceInfo, SourceSchedule } from "../contract/Sources.ts"
import { JobCaller, JobResult, type JobSource, Progress } from "../jobs/JobTable.ts"
import { Integer } from "../sql/Integer.ts"
import { tableRows } from "../sql/Rows.ts"
import { catchSqlError } from "../sql/StoreFailure.ts"
import { makeSourceJobs } from "./SourceJobs.ts"

/** A running job renews its row each second. After this time, nobody runs it any more. */
const DEAD_MILLIS = 10 * 60_000

/** Jobs that read changes of a source at the same time. While so many read files that take long, others wait. */
const MAX_CHANGE_JOBS = 8

const fromJson = <S extends Schema.Top>(schema: S) => Schema.NullOr(Schema.fromJsonString(schema))

/** What a source is added with. */
const NewSource = Schema.Struct({
  id: Schema.String,
  /** Who added it. */
  user_id: Schema.String,
  owner_id: Schema.String,
  collection: Schema.String,
  name: Schema.String,
  kind: Schema.String,
  address: Schema.String,
  /** Whose rights and balance the runs use. */
  caller: Schema.fromJsonString(JobCaller),
  schedule: fromJson(SourceSchedule),
  /** `file`, or the name of an environment variable. */
  credential: Schema.NullOr(Schema.String)
})

const StoredSource = Schema.Struct({
  ...NewSource.fields,
  paused: Integer,
  /** Why it may not run any more. */
  stopped: Schema.NullOr(Schema.String),
  next_run: Schema.NullOr(Integer),
  job: Schema.NullOr(Schema.String),
  change_job: Schema.NullOr(Schema.String),
  run_status: Schema.NullOr(JobStatus),
  run_progress: fromJson(Progress),
  run_result: fromJson(JobResult),
  run_at: Schema.NullOr(Integer),
  run_ended: Schema.NullOr(Integer),
  changed_result: fromJson(JobResult),
  changed_ended: Schema.NullOr(Integer)
})
export type StoredSource = typeof StoredSource.Type

const { first, rows } = tableRows(StoredSource)

/** The collection as a user names it. */
export const collectionOf = ({ collection, owner_id }: StoredSource, user: string): string =>
  owner_id === user ? collection : referenceOf(collection, owner_id)

const isUnended = (status: JobStatus | null): boolean => status === "queued" || status === "running"

/** As its runs, its schedule and the clock say. */
const stateOf = (row: StoredSource, now: number): SourceInfo["state"] => {
  if (row.run_status === "running") return "running"
  if (row.stopped !== null) return "stopped"
  if (row.run_status === "queued" || (row.next_run !== null && row.next_run <= now)) return "waiting"
  if (row.paused === 1) return "paused"
  if (row.run_status === "failed" || row.run_status === "cancelled") return "failed"
  return row.run_status === null ? "waiting" : "done"
}

/** What the last change read, unless all of the source has been read since. */
const changeSince = ({ changed_ended, changed_result, run_at, run_ended, run_result }: StoredSource) =>
  (changed_ended ?? 0) > ((run_result === null ? run_at : run_ended) ?? 0) ? changed_result : null

/** What a run could not read, and what the last changes since could not. */
const failedOf = (run: JobResult | null, since: JobResult | null) => {
  const failed = since?.report?.failed ?? []
  const tried = new Set([...failed, ...(since?.changes ?? [])].map(({ path }) => path))
  return [...(run?.report?.failed ?? []).filter(({ path }) => !tried.has(path)), ...failed]
}

export const toInfo = (row: StoredSource, user: string, now: number): SourceInfo => {
  const { run_at, run_progress, run_result, run_status } = row
  const state = stateOf(row, now)
  const since = changeSince(row)
  const runError =
    run_status === "cancelled" ? "The run was cancelled. What it read stays" : run_result?.error?.message
  const error = since?.error?.message ?? runError
  const message = row.stopped ?? (isUnended(run_status) ? undefined : error)
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    address: row.address,
    collection: collectionOf(row, user),
    hasCredential: row.credential !== null,
    state,
    changes: (since ?? run_result)?.changes ?? [],
    failed: failedOf(run_result, since),
    ...(row.schedule !== null && { schedule: row.schedule }),
    ...(message !== undefined && { message }),
    ...(row.job !== null && { job: row.job }),
    ...(run_progress !== null && { done: run_progress.done }),
    ...(run_result?.report !== undefined && { report: run_result.report }),
    ...(run_at !== null && { lastRun: run_at }),
    ...(row.next_run !== null && { nextRun: row.next_run })
  }
}

const json = (value: unknown) => (value === null ? null : JSON.stringify(value))

export const makeSourceStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const jobs = yield* makeSourceJobs
  /** One at a time: each replaces the last one. */
  const changing = yield* Semaphore.make(1)
  const select = sql.literal(`SELECT sources.*, run.status AS run_status, run.progress AS run_progress,
    run.result AS run_result, run.created_at AS run_at, run.updated_at AS run_ended,
    changed.result AS changed_result, changed.updated_at AS changed_ended
    FROM sources LEFT JOIN jobs AS run ON run.id = sources.job LEFT JOIN jobs AS changed ON changed.id = sources.change_job`)
  const idle = (now: number) => sql`NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = sources.job
    AND (jobs.status = 'queued' OR (jobs.status = 'running' AND jobs.updated_at > ${now - DEAD_MILLIS})))`
  return {
    cancelJobs: jobs.cancel,
    get: (id: string) => catchSqlError(first(sql`${select} WHERE sources.id = ${id}`)),
    /** Those that the user added, and those of the user's collections. */
    of: (user: string) =>
      catchSqlError(
        rows(sql`${select} WHERE sources.user_id = ${user} OR sources.owner_id = ${user}
          ORDER BY sources.collection, sources.name`)
      ),
    /** Folders that are watched. */
    watched: catchSqlError(
      rows(sql`${select} WHERE sources.kind = 'folder' AND sources.schedule IS NOT NULL AND sources.paused = 0
        AND sources.stopped IS NULL`)
    ),
    /** False if the collection has a source of this name. It runs at once. */
    add: Effect.fnUntraced(function* (row: typeof NewSource.Type) {
      const now = yield* Clock.currentTimeMillis
      const values = {
        ...row,
        caller: json(row.caller),
        schedule: json(row.schedule),
        next_run: now,
        created_at: now
      }
      const added = yield* catchSqlError(
        sql`INSERT INTO sources ${sql.insert(values)} ON CONFLICT (owner_id, collection, name) DO NOTHING RETURNING id`
      )
      return added.length > 0
    }),
    /** Starts a stopped source again. */
    change: (
      id: string,
      {
        credential,
        next_run,
        paused,
        schedule
      }: Pick<StoredSource, "credential" | "next_run" | "paused" | "schedule">
    ) =>
      catchSqlError(sql`UPDATE sources SET schedule = ${json(schedule)}, credential = ${credential}, paused = ${paused},
        next_run = ${next_run}, stopped = NULL WHERE id = ${id}`),
    /** To run at the next look. */
    runNow: (id: string) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        catchSqlError(sql`UPDATE sources SET next_run = ${now}, stopped = NULL WHERE id = ${id}`)
      ),
    stop: (id: string, why: string) =>
      sql`UPDATE sources SET stopped = ${why}, next_run = NULL WHERE id = ${id}`,
    remove: (id: string) => catchSqlError(sql`DELETE FROM sources WHERE id = ${id}`),
    /** Those that should run and do not, of users with fewer than so many runs. */
    due: (perUser: number) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        rows(sql`${select} WHERE sources.next_run <= ${now} AND ${idle(now)} AND (SELECT COUNT(*) FROM jobs
          WHERE jobs.user_id = sources.user_id AND jobs.kind = 'sync' AND jobs.status IN ('queued', 'running')) < ${perUser}
          ORDER BY sources.next_run LIMIT 100`)
      ),
    /** Gives a due source its run. False if another server did. */
    claim: ({ id, next_run }: StoredSource, job: string, next: number | null, now: number) =>
      Effect.map(
        sql`UPDATE sources SET job = ${job}, next_run = ${next} WHERE id = ${id} AND next_run = ${next_run}
          AND ${idle(now)} RETURNING id`,
        ({ length }) => length > 0
      ),
    /** Of the paths that a watched folder tells, those to read now: no other job reads them, at this server or another. */
    claimChanges: Effect.fnUntraced(function* (id: string, paths: ReadonlyArray<string>, now: number) {
      // The update keeps other servers from claiming until the transaction ends.
      const isWatched =
        yield* sql`UPDATE sources SET paused = 0 WHERE id = ${id} AND paused = 0 AND stopped IS NULL RETURNING id`
      const others = yield* jobs.changes(id, now - DEAD_MILLIS)
      const claimed = new Set(others.flat())
      return isWatched.length === 0 || others.length >= MAX_CHANGE_JOBS
        ? []
        : paths.filter((path) => !claimed.has(path))
    }),
    /** Shows the changes that a job has read, in place of the last ones. False if the source was removed. */
    changed: Effect.fnUntraced(function* ({ id, paths }: JobSource, job: string) {
      const row = yield* first(sql`${select} WHERE sources.id = ${id}`)
      if (row === undefined || paths === undefined) return row !== undefined
      yield* sql`UPDATE sources SET change_job = ${job} WHERE id = ${id}`
      const result = (yield* first(sql`${select} WHERE sources.id = ${id}`))?.changed_result
      const failed = failedOf(changeSince(row), result ?? null)
      if (result?.report !== undefined)
        yield* sql`UPDATE jobs SET result = ${json({ ...result, report: { ...result.report, failed } })} WHERE id = ${job}`
      // A folder that changes all day would leave thousands of jobs.
      if (row.change_job !== null) yield* sql`DELETE FROM jobs WHERE id = ${row.change_job}`
      return true
    }, changing.withPermit)
  }
})
