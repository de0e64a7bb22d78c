/**
 * The tasks of images and videos.
 *
 * Each task is a row of the accounts' database, so that every server of that database knows it. A task that this process
 * runs is also a job file in the data folder, with its request, until it ends: after a restart the server runs it again.
 * The state of an upstream's task is fetched from the upstream.
 */
import { GatewayError, InvalidResponse, NotFound, ServerFailure } from "@sluice/core"
import { Array, Clock, Context, Duration, Effect, FileSystem, Layer, Path, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { ServerConfig } from "../config/ServerConfig.ts"
import { databaseRetry } from "../sql/StoreFailure.ts"

/** How long tasks are kept. Their files live a day; later requests should hear that the file expired. */
const TASK_LIFE = Duration.days(7)

export const MediaTask = Schema.Struct({
  id: Schema.NonEmptyString,
  kind: Schema.Literals(["image", "video"]),
  /** The owner. Other users cannot see the task. */
  user: Schema.String,
  /** The `id` of the provider that runs it. */
  provider: Schema.String,
  /** The provider's id for it, if that is another one. */
  reference: Schema.optional(Schema.String),
  model: Schema.String,
  /** In ms since 1970. */
  created: Schema.Finite,
  ended: Schema.optional(Schema.Finite),
  status: Schema.Literals(["queued", "in_progress", "completed", "failed"]),
  /** 0 to 100. */
  progress: Schema.Finite,
  error: Schema.optional(Schema.Struct({ code: Schema.String, message: Schema.String })),
  /** Names of the produced files. */
  files: Schema.Array(Schema.String),
  /** The request, until the task has ended; null for tasks of upstreams. */
  request: Schema.Json,
  /** Request fields that responses repeat. */
  told: Schema.Record(Schema.String, Schema.Json)
})
export type MediaTask = typeof MediaTask.Type

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(MediaTask))

const hasEnded = ({ ended }: MediaTask): boolean => ended !== undefined

const failed = (kind: MediaTask["kind"], reason: GatewayError["reason"], model?: string) =>
  new GatewayError({ operation: `${kind}s`, reason, ...(model !== undefined && { model }) })

const notFound = (kind: MediaTask["kind"], id: string) => {
  const message = `There is no ${kind} task \`${id.slice(0, 100)}\``
  return failed(kind, new NotFound({ message, code: "task_not_found" }))
}

const idTaken = ({ kind, model, provider }: MediaTask) => {
  const message = `The provider \`${provider}\` returned a task id that another task already has`
  return failed(kind, new InvalidResponse({ message }), model)
}

const unavailable = (kind: MediaTask["kind"], message = "The tasks are unavailable. Try again in a moment") =>
  failed(kind, new ServerFailure({ status: 503, message, retryAfter: Duration.seconds(1) }))

/** The job files of this process. */
const makeJobs = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { data } = yield* ServerConfig
  const folder = path.join(data, "media", "tasks")
  const running = new Map<string, MediaTask>()
  const fileOf = (id: string) => path.join(folder, `${createHash("sha256").update(id).digest("hex")}.job`)

  const save = (task: MediaTask) =>
    fs.makeDirectory(folder, { recursive: true, mode: 0o700 }).pipe(
      Effect.andThen(fs.writeFileString(`${fileOf(task.id)}.new`, JSON.stringify(task), { mode: 0o600 })),
      Effect.andThen(fs.rename(`${fileOf(task.id)}.new`, fileOf(task.id))),
      Effect.catch(({ message }) =>
        Effect.logWarning(`A job file could not be written: ${message}. The task will be lost at a restart`)
      )
    )

  const remove = (id: string) =>
    Effect.suspend(() => {
      running.delete(id)
      return Effect.ignore(fs.remove(fileOf(id)))
    })

  /** The files of earlier runs. Deletes partly written ones. */
  const leftover = Effect.gen(function* () {
    const names = yield* Effect.orElseSucceed(fs.readDirectory(folder), () => [])
    const files = names.map((name) => path.join(folder, name))
    for (const file of files) if (file.endsWith(".new")) yield* Effect.ignore(fs.remove(file))
    return files.filter((file) => !file.endsWith(".new"))
  })

  return { fs, leftover, remove, running, save }
})

/** The rows of all servers. */
const makeTable = Effect.map(SqlClient.SqlClient, (sql) => {
  const { kind, status } = MediaTask.fields
  const textOf = (task: MediaTask) => JSON.stringify({ ...task, request: null })
  return {
    /** Inserts a task, or replaces one of the same user and provider. False if the id is taken. */
    put: (task: MediaTask) =>
      Effect.map(
        sql`INSERT INTO media_tasks ${sql.insert({
          id: task.id,
          kind: task.kind,
          user_id: task.user,
          provider: task.provider,
          status: task.status,
          created_at: task.created,
          task: textOf(task)
        })} ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, status = excluded.status,
          created_at = excluded.created_at, task = excluded.task
          WHERE media_tasks.user_id = excluded.user_id AND media_tasks.provider = excluded.provider
          RETURNING id`,
        ({ length }) => length > 0
      ),
    get: (id: string) =>
      Effect.flatMap(sql<{ readonly task: string }>`SELECT task FROM media_tasks WHERE id = ${id}`, ([row]) =>
        row === undefined ? Effect.undefined : decode(row.task)
      ),
    update: (task: MediaTask) =>
      sql`UPDATE media_tasks SET status = ${task.status}, task = ${textOf(task)} WHERE id = ${task.id}`,
    remove: (id: string) => sql`DELETE FROM media_tasks WHERE id = ${id}`,
    removeBefore: (created: number) => sql`DELETE FROM media_tasks WHERE created_at < ${created}`,
    counts: Effect.map(
      sql<{ readonly kind: string; readonly status: string; readonly number: number }>`
        SELECT kind, status, COUNT(*) AS number FROM media_tasks GROUP BY kind, status`,
      (rows) =>
        Array.cartesianWith(kind.literals, status.literals, (kind, status) => {
          const row = rows.find((row) => row.kind === kind && row.status === status)
          return { kind, status, number: Number(row?.number ?? 0) }
        })
    )
  }
})

type Jobs = Effect.Success<typeof makeJobs>
type Table = Effect.Success<typeof makeTable>

/** Loads a job of an earlier run, or imports a task file of an earlier version. */
const loadJob = Effect.fnUntraced(function* (file: string, jobs: Jobs, table: Table) {
  const task = yield* Effect.flatMap(jobs.fs.readFileString(file), decode)
  if (file.endsWith(".json")) {
    yield* table.put(task)
    if (!hasEnded(task)) yield* jobs.save(task)
    yield* jobs.fs.remove(file)
  }
  if (hasEnded(task)) return
  const row = yield* table.get(task.id)
  // Removed at another server, or ended just before the restart.
  if (row === undefined || hasEnded(row)) return yield* jobs.remove(task.id)
  jobs.running.set(task.id, task)
})

const removeOld = (jobs: Jobs, table: Table) =>
  Effect.gen(function* () {
    const oldest = (yield* Clock.currentTimeMillis) - Duration.toMillis(TASK_LIFE)
    yield* table.removeBefore(oldest)
    for (const { created, id } of jobs.running.values()) if (created < oldest) yield* jobs.remove(id)
  }).pipe(
    Effect.catchTag("SqlError", ({ message }) =>
      Effect.logWarning(`Old tasks could not be removed. Next attempt in an hour: ${message}`)
    )
  )

export class MediaTasks extends Context.Service<MediaTasks>()("@sluice/demo-server/MediaTasks", {
  make: Effect.gen(function* () {
    const jobs = yield* makeJobs
    const table = yield* makeTable
    const listeners: Array<(task: MediaTask) => Effect.Effect<void>> = []

    for (const file of yield* jobs.leftover) {
      yield* Effect.catchCause(loadJob(file, jobs, table), () =>
        Effect.logWarning(`The task in ${file} is skipped: it is damaged, or the database is unavailable`)
      )
    }
    const cleanup = removeOld(jobs, table)
    yield* cleanup
    yield* Effect.forkScoped(Effect.repeat(cleanup, Schedule.spaced("1 hour")))

    return {
      /** The number of tasks of each kind and status. */
      counts: table.counts,
      /** Adds a task. Fails if another task has its id: upstreams choose ids independently. */
      add: Effect.fnUntraced(function* (task: MediaTask) {
        if (!hasEnded(task)) {
          jobs.running.set(task.id, task)
          yield* jobs.save(task)
        }
        yield* Effect.retry(table.put(task), databaseRetry("20 seconds")).pipe(
          Effect.mapError(() => unavailable(task.kind, "The task could not be stored")),
          Effect.filterOrFail(Boolean, () => idTaken(task)),
          Effect.onError(() => (hasEnded(task) ? Effect.void : jobs.remove(task.id)))
        )
      }),
      /** A user's own task. Another user's task fails like a missing one. */
      find: Effect.fnUntraced(function* (kind: MediaTask["kind"], id: string, user: string) {
        // PostgreSQL rejects NUL in text.
        if (id.includes("\0")) return yield* notFound(kind, id)
        const task = yield* table.get(id).pipe(
          Effect.catchTag("SchemaError", Effect.die),
          Effect.mapError(() => unavailable(kind))
        )
        if (task?.kind !== kind || task.user !== user) return yield* notFound(kind, id)
        return jobs.running.get(id) ?? task
      }),
      /** Changes a task that this process runs. Does nothing if the task was removed. */
      update: (id: string, change: Partial<MediaTask>): Effect.Effect<void> =>
        Effect.suspend(() => {
          const task = jobs.running.get(id)
          if (task === undefined) return Effect.void
          const next = { ...task, ...change }
          jobs.running.set(id, next)
          // Progress changes often and is not stored.
          if (next.status === task.status) return Effect.void
          if (!hasEnded(next)) return Effect.ignore(table.update(next))
          return Effect.retry(table.update(next), databaseRetry("10 minutes")).pipe(
            Effect.catch(({ message }) => Effect.logError(`The result of a task is lost: ${message}`)),
            Effect.andThen(jobs.remove(id)),
            Effect.andThen(Effect.forEach(listeners, (listener) => listener(next), { discard: true }))
          )
        }),
      /** Adds a listener that runs after a task has completed or failed and is stored. */
      onEnd: (listener: (task: MediaTask) => Effect.Effect<void>) =>
        Effect.sync(() => void listeners.push(listener)),
      remove: ({ id, kind }: MediaTask) =>
        table.remove(id).pipe(
          Effect.mapError(() => unavailable(kind)),
          Effect.andThen(jobs.remove(id))
        ),
      /** The running tasks of a provider of this process. */
      running: (provider: string) =>
        [...jobs.running.values()].filter((task) => task.provider === provider && !hasEnded(task))
    }
  })
}) {
  static readonly layer = Layer.effect(MediaTasks, MediaTasks.make)
}
