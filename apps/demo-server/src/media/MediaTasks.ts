/**
 * The tasks of images and videos.
 *
 * Each task is a row of the accounts' database, so that every server of that database knows it. A task that a server runs
 * has its request there too, until it ends, and a lease that the server renews: if the server ends, another one, or the same
 * after a restart, runs the task again. The state of an upstream's task is fetched from the upstream.
 */
import { GatewayError, InvalidResponse, NotFound, ServerFailure } from "@sluice/core"
import { Array, Clock, Context, Duration, Effect, Layer, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { SHARED_CLOCK } from "../sql/SharedClock.ts"
import { databaseRetry, warnOfSqlError } from "../sql/StoreFailure.ts"

/** How long a task counts as running after its lease was renewed. */
const LEASE_MS = 30_000

/** How often the leases are renewed. */
export const LEASE_RENEWAL = Duration.seconds(10)

/** At a shutdown while the database is away. */
const RELEASE_TIMEOUT = Duration.seconds(2)

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

/** The rows of all servers. `owner` names this process in them. */
const makeTable = (owner: string) =>
  Effect.map(SqlClient.SqlClient, (sql) => {
    const { kind, status } = MediaTask.fields
    const textOf = (task: MediaTask) => JSON.stringify({ ...task, request: null })
    const requestOf = (task: MediaTask) => (hasEnded(task) ? null : JSON.stringify(task.request))
    const lease = sql.onDialectOrElse({
      pg: () => sql`${sql.literal(SHARED_CLOCK)} + ${LEASE_MS}`,
      // A SQLite file has one server.
      orElse: () => sql`0`
    })
    const hasExpired = sql.onDialectOrElse({
      pg: () => sql`lease_until <= ${sql.literal(SHARED_CLOCK)}`,
      orElse: () => sql`TRUE`
    })
    const isOwn = sql`owner = ${owner} AND request IS NOT NULL`
    const isDone = Effect.map(({ length }: ReadonlyArray<unknown>) => length > 0)
    return {
      /**
       * Inserts a task, or replaces one of the same user and provider. False if the id is taken. Without `isOwn`, any
       * server may run it.
       */
      put: (task: MediaTask, isOwn: boolean) =>
        isDone(
          sql`INSERT INTO media_tasks (id, kind, user_id, provider, status, created_at, task, request, owner, lease_until)
            VALUES (${task.id}, ${task.kind}, ${task.user}, ${task.provider}, ${task.status}, ${task.created},
              ${textOf(task)}, ${requestOf(task)}, ${isOwn ? owner : ""}, ${isOwn ? lease : sql`0`})
            ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, status = excluded.status,
            created_at = excluded.created_at, task = excluded.task, request = excluded.request,
            owner = excluded.owner, lease_until = excluded.lease_until
            WHERE media_tasks.user_id = excluded.user_id AND media_tasks.provider = excluded.provider
            RETURNING id`
        ),
      get: (id: string) =>
        Effect.flatMap(
          sql<{ readonly task: string }>`SELECT task FROM media_tasks WHERE id = ${id}`,
          ([row]) => (row === undefined ? Effect.undefined : decode(row.task))
        ),
      /** Stores the state of a task of this process. False if it is no longer its. */
      update: (task: MediaTask) =>
        isDone(sql`UPDATE media_tasks SET status = ${task.status}, task = ${textOf(task)}, lease_until = ${lease},
          request = ${requestOf(task)}
          WHERE id = ${task.id} AND ${isOwn} RETURNING id`),
      /** Makes the tasks of a provider this process's whose servers have ended. */
      takeOver: (provider: string) =>
        Effect.flatMap(
          sql<{ readonly task: string; readonly request: string }>`
            UPDATE media_tasks SET owner = ${owner}, lease_until = ${lease}
            WHERE provider = ${provider} AND request IS NOT NULL AND owner <> ${owner} AND ${hasExpired}
            RETURNING task, request`,
          (rows) =>
            Effect.forEach(rows, ({ request, task }) =>
              Effect.map(decode(task), (decoded): MediaTask => ({ ...decoded, request: JSON.parse(request) }))
            )
        ),
      /** Another server may take the tasks over at once. */
      release: sql`UPDATE media_tasks SET owner = '', lease_until = 0 WHERE ${isOwn}`,
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

export class MediaTasks extends Context.Service<MediaTasks>()("@sluice/demo-server/MediaTasks", {
  make: Effect.gen(function* () {
    const table = yield* makeTable(randomUUID())
    /** The tasks that this process runs. */
    const running = new Map<string, MediaTask>()
    const unended = () => [...running.values()].filter((task) => !hasEnded(task))
    const listeners: Array<(task: MediaTask) => Effect.Effect<void>> = []

    const cleanup = Effect.gen(function* () {
      const oldest = (yield* Clock.currentTimeMillis) - Duration.toMillis(TASK_LIFE)
      yield* table.removeBefore(oldest)
      for (const { created, id } of running.values()) if (created < oldest) running.delete(id)
    }).pipe(warnOfSqlError("Old tasks could not be removed. Next attempt in an hour"))
    yield* cleanup
    yield* Effect.forkScoped(Effect.repeat(cleanup, Schedule.spaced("1 hour")))
    yield* Effect.addFinalizer(() =>
      running.size === 0 ? Effect.void : Effect.ignore(Effect.timeout(table.release, RELEASE_TIMEOUT))
    )

    return {
      /** The number of tasks of each kind and status. */
      counts: table.counts,
      /** Adds a task. Fails if another task has its id: upstreams choose ids independently. */
      add: Effect.fnUntraced(function* (task: MediaTask) {
        if (!hasEnded(task)) running.set(task.id, task)
        yield* Effect.retry(table.put(task, !hasEnded(task)), databaseRetry("20 seconds")).pipe(
          Effect.mapError(() => unavailable(task.kind, "The task could not be stored")),
          Effect.filterOrFail(Boolean, () => idTaken(task)),
          Effect.onError(() => Effect.sync(() => running.delete(task.id)))
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
        return running.get(id) ?? task
      }),
      /** Changes a task that this process runs. Does nothing if the task was removed. */
      update: (id: string, change: Partial<MediaTask>): Effect.Effect<void> =>
        Effect.suspend(() => {
          const task = running.get(id)
          if (task === undefined) return Effect.void
          const next = { ...task, ...change }
          running.set(id, next)
          // Progress changes often, and is stored with the lease.
          if (next.status === task.status) return Effect.void
          if (!hasEnded(next)) return Effect.ignore(table.update(next))
          return Effect.retry(table.update(next), databaseRetry("10 minutes")).pipe(
            Effect.catch(({ message }) =>
              Effect.as(Effect.logError(`The result of a task is lost: ${message}`), true)
            ),
            Effect.tap(Effect.sync(() => running.delete(id))),
            // Otherwise another server ends it.
            Effect.flatMap((isOwn) =>
              isOwn ? Effect.forEach(listeners, (listener) => listener(next), { discard: true }) : Effect.void
            )
          )
        }),
      /** Adds a listener that runs after a task has completed or failed and is stored. */
      onEnd: (listener: (task: MediaTask) => Effect.Effect<void>) =>
        Effect.sync(() => void listeners.push(listener)),
      remove: ({ id, kind }: MediaTask) =>
        table.remove(id).pipe(
          Effect.mapError(() => unavailable(kind)),
          Effect.andThen(Effect.sync(() => void running.delete(id)))
        ),
      /** The running tasks of a provider of this process. */
      running: (provider: string) => unended().filter((task) => task.provider === provider),
      /** Renews the leases of this process's tasks. Returns the ids of those that are no longer its: removed, or taken over. */
      renew: Effect.suspend(() =>
        Effect.forEach(unended(), (task) =>
          Effect.map(table.update(task), (isOwn) => {
            if (!isOwn) running.delete(task.id)
            return isOwn ? [] : [task.id]
          })
        )
      ).pipe(Effect.map((lost) => lost.flat())),
      /** The tasks of a provider whose servers have ended. They are this process's now. */
      takeOver: (provider: string) =>
        Effect.tap(table.takeOver(provider), (tasks) =>
          Effect.sync(() => {
            for (const task of tasks) running.set(task.id, task)
          })
        )
    }
  })
}) {
  static readonly layer = Layer.effect(MediaTasks, MediaTasks.make)
}
