/** The jobs of all servers of a database, with their progress. The queue only has their ids. */
import { Clock, Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Job } from "../contract/Documents.ts"
import { SourceChange } from "../contract/Sources.ts"
import { JOB_QUEUE } from "../database/Migrations.ts"
import { Integer } from "../sql/Integer.ts"
import { oneNumber, tableRows } from "../sql/Rows.ts"

/** Whose rights and balance a job uses. They are checked again when it runs. */
export const JobCaller = Schema.Struct({
  user: Schema.String,
  credential: Schema.Literals(["key", "token", "session", "none"]),
  address: Schema.String,
  key: Schema.optional(Schema.String)
})
export type JobCaller = typeof JobCaller.Type

/** A file of an upload: `name` is where its bytes are kept until the job ends. */
const JobFile = Schema.Struct({
  name: Schema.String,
  path: Schema.String,
  metadata: Schema.optional(Schema.Record(Schema.String, Schema.Json))
})
export type JobFile = typeof JobFile.Type

export const Progress = Schema.Struct(Struct.pick(Job.fields, ["files", "done", "passages", "reading"]))
export type Progress = typeof Progress.Type

/** The source that a job reads: all of it, or the documents of these paths. */
export const JobSource = Schema.Struct({
  id: Schema.String,
  paths: Schema.optionalKey(Schema.Array(Schema.String))
})
export type JobSource = typeof JobSource.Type

export const JobResult = Schema.Struct({
  ...Struct.pick(Job.fields, ["report", "error"]),
  /** Of a source: the first hundred. */
  changes: Schema.optionalKey(Schema.Array(SourceChange))
})
export type JobResult = typeof JobResult.Type

const JobRow = Schema.Struct({
  ...Struct.pick(Job.fields, ["id", "kind", "status"]),
  user_id: Schema.String,
  source: Schema.NullOr(Schema.fromJsonString(JobSource)),
  collection: Schema.NullOr(Schema.String),
  caller: Schema.fromJsonString(JobCaller),
  files: Schema.fromJsonString(Schema.Array(JobFile)),
  progress: Schema.fromJsonString(Progress),
  result: Schema.NullOr(Schema.fromJsonString(JobResult)),
  created_at: Integer,
  updated_at: Integer
})
export type JobRow = typeof JobRow.Type

/** A job as callers see it. */
export const toJob = ({
  collection,
  created_at,
  id,
  kind,
  progress,
  result,
  status,
  updated_at
}: JobRow): Job => ({
  id,
  kind,
  status,
  ...(collection !== null && { collection }),
  ...progress,
  created_at,
  updated_at,
  ...(result?.report && { report: result.report }),
  ...(result?.error && { error: result.error })
})

/** Jobs of one list at most. */
const MAX_LISTED = 100

/** The time comes first, to distinguish the files of an upload without a job from those of a running one. */
export const newJobId = Effect.map(
  Clock.currentTimeMillis,
  (now) => `job_${now.toString(36)}_${randomUUID().replaceAll("-", "")}`
)

/** When a job was made, in ms since 1970. */
export const timeOfJob = (id: string): number => Number.parseInt(id.split("_")[1] ?? "", 36)

export class JobTable extends Context.Service<JobTable>()("@sluice/demo-server/JobTable", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { first, rows } = tableRows(JobRow)
    const unended = sql.literal("('queued', 'running')")
    return {
      add: Effect.fnUntraced(function* (
        job: Pick<JobRow, "id" | "kind" | "collection" | "caller" | "files"> &
          Partial<Pick<JobRow, "source">> & {
            readonly bytes: number
            /** Whose library the job writes to. Default: the caller's. */
            readonly owner?: string
          }
      ) {
        const now = yield* Clock.currentTimeMillis
        const count = job.kind === "ingest" ? { files: job.files.length } : {}
        const row = {
          id: job.id,
          user_id: job.caller.user,
          owner: job.owner ?? job.caller.user,
          kind: job.kind,
          collection: job.collection,
          caller: JSON.stringify(job.caller),
          files: JSON.stringify(job.files),
          source: job.source ? JSON.stringify(job.source) : null,
          bytes: job.bytes,
          status: "queued",
          progress: JSON.stringify({ ...count, done: 0, passages: 0 }),
          created_at: now,
          updated_at: now
        }
        return yield* first(sql`INSERT INTO jobs ${sql.insert(row)} RETURNING *`)
      }),
      /** A job of the user. */
      find: (id: string, user: string) =>
        first(sql`SELECT * FROM jobs WHERE id = ${id} AND user_id = ${user}`),
      list: (user: string) =>
        rows(
          sql`SELECT * FROM jobs WHERE user_id = ${user} ORDER BY created_at DESC, id LIMIT ${MAX_LISTED}`
        ),
      /** Bytes of uploads to the user's library that wait or run. */
      bytes: (user: string) =>
        oneNumber(sql`SELECT SUM(bytes) AS n FROM jobs
          WHERE COALESCE(owner, user_id) = ${user} AND status IN ${unended}`),
      /** Marks a job as running, again after a server was killed. Undefined if it has ended. */
      start: Effect.fnUntraced(function* (id: string) {
        const now = yield* Clock.currentTimeMillis
        return yield* first(sql`UPDATE jobs SET status = 'running', updated_at = ${now}
          WHERE id = ${id} AND status IN ${unended} RETURNING *`)
      }),
      /** Stores the progress. False if the job was cancelled meanwhile. */
      beat: Effect.fnUntraced(function* (id: string, progress: Progress) {
        const now = yield* Clock.currentTimeMillis
        const kept = yield* sql`UPDATE jobs SET progress = ${JSON.stringify(progress)}, updated_at = ${now}
          WHERE id = ${id} AND status = 'running' RETURNING id`
        return kept.length > 0
      }),
      /** Ends a job once. */
      end: Effect.fnUntraced(function* (
        id: string,
        status: Job["status"],
        result: JobResult,
        progress?: Progress
      ) {
        const now = yield* Clock.currentTimeMillis
        const counts = progress === undefined ? sql.literal("progress") : sql`${JSON.stringify(progress)}`
        yield* sql`UPDATE jobs SET status = ${status}, result = ${JSON.stringify(result)}, progress = ${counts},
          updated_at = ${now} WHERE id = ${id} AND status IN ${unended}`
      }),
      /** Ends jobs that the queue has given up: their last worker was killed, and could not say so. */
      endGivenUp: Effect.fnUntraced(function* (result: JobResult) {
        const now = yield* Clock.currentTimeMillis
        return yield* rows(sql`UPDATE jobs SET status = 'failed', result = ${JSON.stringify(result)}, updated_at = ${now}
          WHERE status IN ${unended} AND id IN (
            SELECT id FROM ${sql(JOB_QUEUE)} WHERE state = 'failed'
          ) RETURNING *`)
      }),
      /** Ids of jobs whose files are still needed. */
      unended: Effect.map(
        sql<{ readonly id: string }>`SELECT id FROM jobs WHERE status IN ${unended}`,
        (found) => new Set(found.map(({ id }) => id))
      ),
      removeBefore: (time: number) =>
        sql`DELETE FROM jobs WHERE updated_at < ${time} AND status NOT IN ${unended}
          AND NOT EXISTS (SELECT 1 FROM sources WHERE jobs.id IN (sources.job, sources.change_job))`
    }
  })
}) {
  static readonly layer = Layer.effect(JobTable, JobTable.make)
}
