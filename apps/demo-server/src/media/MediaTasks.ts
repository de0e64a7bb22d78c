/**
 * The tasks of images and videos: whose they are, who makes them, and how far they are.
 *
 * Each is a row of the accounts' database, so that every server there knows it. What a provider elsewhere makes is here by
 * its id alone: its state is asked for there. What this process makes is a file of the data folder beside, with what it
 * was asked for, until it has ended: a server that was ended takes its own up again.
 */
import { GatewayError, InvalidResponse, NotFound, ServerFailure } from "@sluice/core"
import { Clock, Context, Duration, Effect, FileSystem, Layer, Path, Schedule, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { createHash } from "node:crypto"
import { ServerConfig } from "../config/ServerConfig.ts"
import { again } from "../sql/Again.ts"

/** How long a task is remembered: its files live a day, and whoever asks later should hear that they have expired. */
const TASK_LIFE = Duration.days(7)

const FORGET_EVERY = Duration.hours(1)

/** How long who has something made waits for a database that is gone. */
const ADDING = "20 seconds"

/** What is under way in this process; and what earlier versions kept of every task. */
const [JOB, LEGACY] = [".job", ".json"]

export const MediaTask = Schema.Struct({
  id: Schema.NonEmptyString,
  kind: Schema.Literals(["image", "video"]),
  /** Who made it: nobody else learns that it is there. */
  user: Schema.String,
  /** The `id` of the provider that makes it. */
  provider: Schema.String,
  model: Schema.String,
  /** In ms since 1970. */
  created: Schema.Finite,
  ended: Schema.optional(Schema.Finite),
  status: Schema.Literals(["queued", "in_progress", "completed", "failed"]),
  /** 0 to 100. */
  progress: Schema.Finite,
  error: Schema.optional(Schema.Struct({ code: Schema.String, message: Schema.String })),
  /** Names of what was made. */
  files: Schema.Array(Schema.String),
  /** What was asked for, until the task has ended; of a task elsewhere, null. */
  request: Schema.Json,
  /** What the answers repeat of the request. */
  told: Schema.Record(Schema.String, Schema.Json)
})
export type MediaTask = typeof MediaTask.Type

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(MediaTask))

const hasEnded = ({ ended }: MediaTask): boolean => ended !== undefined

const notFound = (kind: MediaTask["kind"], id: string) =>
  new GatewayError({
    operation: `${kind}s`,
    reason: new NotFound({
      message: `There is no ${kind} task \`${id.slice(0, 100)}\``,
      code: "task_not_found"
    })
  })

const taken = ({ kind, model, provider }: MediaTask) =>
  new GatewayError({
    operation: `${kind}s`,
    model,
    reason: new InvalidResponse({
      message: `The provider \`${provider}\` gave its task an id that another task has: it cannot be watched here`
    })
  })

const unavailable = (
  kind: MediaTask["kind"],
  message = "The tasks cannot be asked after just now: try again in a moment"
) =>
  new GatewayError({
    operation: `${kind}s`,
    reason: new ServerFailure({
      status: 503,
      message,
      retryAfter: Duration.seconds(1)
    })
  })

interface Row {
  readonly task: string
}

interface Counted {
  readonly kind: string
  readonly status: string
  readonly number: number
}

export class MediaTasks extends Context.Service<
  MediaTasks,
  {
    /** Fails where another's task has that id: providers elsewhere choose ids without knowing of each other. */
    readonly add: (task: MediaTask) => Effect.Effect<void, GatewayError>
    /** One's own; a foreign task is told from none by nothing. */
    readonly find: (
      kind: MediaTask["kind"],
      id: string,
      user: string
    ) => Effect.Effect<MediaTask, GatewayError>
    /** Of one that this process makes. Nothing happens to a task that was removed meanwhile. */
    readonly update: (id: string, change: Partial<MediaTask>) => Effect.Effect<void>
    readonly remove: (task: MediaTask) => Effect.Effect<void, GatewayError>
    /** What is to be done when a task has completed or failed, once it is written down. */
    readonly onEnd: (listener: (task: MediaTask) => Effect.Effect<void>) => Effect.Effect<void>
    /** Those that a provider makes in this process, and that have not ended. */
    readonly unended: (provider: string) => ReadonlyArray<MediaTask>
    /** How many there are, of each kind and status. */
    readonly counts: Effect.Effect<
      ReadonlyArray<Pick<MediaTask, "kind" | "status"> & { readonly number: number }>,
      SqlError.SqlError
    >
  }
>()("@sluice/demo-server/MediaTasks") {
  static readonly layer = Layer.effect(
    MediaTasks,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const sql = yield* SqlClient.SqlClient
      const { data } = yield* ServerConfig
      const folder = path.join(data, "media", "tasks")
      /** What this process makes. */
      const making = new Map<string, MediaTask>()
      const listeners: Array<(task: MediaTask) => Effect.Effect<void>> = []
      const fileOf = (id: string) =>
        path.join(folder, `${createHash("sha256").update(id).digest("hex")}${JOB}`)

      const saveJob = (task: MediaTask) =>
        fs.makeDirectory(folder, { recursive: true, mode: 0o700 }).pipe(
          Effect.andThen(fs.writeFileString(`${fileOf(task.id)}.new`, JSON.stringify(task), { mode: 0o600 })),
          Effect.andThen(fs.rename(`${fileOf(task.id)}.new`, fileOf(task.id))),
          Effect.catch(({ message }) =>
            Effect.logWarning(`A task could not be written: ${message}. It will not outlast this server`)
          )
        )
      const leave = (id: string) =>
        Effect.suspend(() => {
          making.delete(id)
          return Effect.ignore(fs.remove(fileOf(id)))
        })

      const textOf = (task: MediaTask) => JSON.stringify({ ...task, request: null })
      /** Whether it is there now: in place of one of the same user and provider, if need be. */
      const write = (task: MediaTask) =>
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
        )
      const forgetOld = Effect.gen(function* () {
        const oldest = (yield* Clock.currentTimeMillis) - Duration.toMillis(TASK_LIFE)
        yield* sql`DELETE FROM media_tasks WHERE created_at < ${oldest}`
        for (const { created, id } of making.values()) if (created < oldest) yield* leave(id)
      }).pipe(
        Effect.catchTag("SqlError", ({ message }) =>
          Effect.logWarning(`Old tasks could not be forgotten, and will be in an hour: ${message}`)
        )
      )

      const takeUp = Effect.fnUntraced(function* (name: string) {
        const file = path.join(folder, name)
        const task = yield* Effect.flatMap(fs.readFileString(file), decode)
        if (name.endsWith(LEGACY)) {
          yield* write(task)
          if (!hasEnded(task)) yield* saveJob(task)
          yield* fs.remove(file)
        }
        if (hasEnded(task)) return
        const [row] = yield* sql<Row>`SELECT task FROM media_tasks WHERE id = ${task.id}`
        // Removed at another server, or ended when this one did.
        if (row === undefined || hasEnded(yield* decode(row.task))) return yield* leave(task.id)
        making.set(task.id, task)
      })
      const names = yield* Effect.orElseSucceed(fs.readDirectory(folder), () => [])
      for (const name of names) {
        // What a server left half written that was ended in the middle of it.
        if (name.endsWith(".new")) yield* Effect.ignore(fs.remove(path.join(folder, name)))
        else {
          yield* Effect.catchCause(takeUp(name), () =>
            Effect.logWarning(`The task in ${name} is damaged, or the database is gone: it is left out`)
          )
        }
      }
      yield* forgetOld
      yield* Effect.forkScoped(Effect.repeat(forgetOld, Schedule.spaced(FORGET_EVERY)))

      return {
        counts: Effect.map(
          sql<Counted>`SELECT kind, status, COUNT(*) AS number FROM media_tasks GROUP BY kind, status`,
          (rows) =>
            MediaTask.fields.kind.literals.flatMap((kind) =>
              MediaTask.fields.status.literals.map((status) => {
                const row = rows.find((row) => row.kind === kind && row.status === status)
                return { kind, status, number: Number(row?.number ?? 0) }
              })
            )
        ),
        add: Effect.fnUntraced(function* (task) {
          if (!hasEnded(task)) {
            making.set(task.id, task)
            yield* saveJob(task)
          }
          yield* Effect.retry(write(task), again(ADDING)).pipe(
            Effect.mapError(() => unavailable(task.kind, "The task could not be written down")),
            Effect.filterOrFail(Boolean, () => taken(task)),
            Effect.onError(() => (hasEnded(task) ? Effect.void : leave(task.id)))
          )
        }),
        find: Effect.fnUntraced(function* (kind, id, user) {
          // A character that PostgreSQL takes in no text.
          if (id.includes("\0")) return yield* notFound(kind, id)
          const [row] = yield* sql<Row>`SELECT task FROM media_tasks
            WHERE id = ${id} AND kind = ${kind} AND user_id = ${user}`.pipe(
            Effect.mapError(() => unavailable(kind))
          )
          if (row === undefined) return yield* notFound(kind, id)
          return making.get(id) ?? (yield* Effect.orDie(decode(row.task)))
        }),
        update: (id, change) =>
          Effect.suspend(() => {
            const task = making.get(id)
            if (task === undefined) return Effect.void
            const next = { ...task, ...change }
            making.set(id, next)
            // How far it is changes often, and begins anew after a restart.
            if (next.status === task.status) return Effect.void
            const save = sql`UPDATE media_tasks SET status = ${next.status}, task = ${textOf(next)} WHERE id = ${id}`
            if (!hasEnded(next)) return Effect.ignore(save)
            return Effect.retry(save, again("10 minutes")).pipe(
              Effect.catch(({ message }) => Effect.logError(`What a task came to is lost: ${message}`)),
              Effect.andThen(leave(id)),
              Effect.andThen(Effect.forEach(listeners, (listener) => listener(next), { discard: true }))
            )
          }),
        onEnd: (listener) => Effect.sync(() => void listeners.push(listener)),
        remove: ({ id, kind }) =>
          sql`DELETE FROM media_tasks WHERE id = ${id}`.pipe(
            Effect.mapError(() => unavailable(kind)),
            Effect.andThen(leave(id))
          ),
        unended: (provider) =>
          [...making.values()].filter((task) => task.provider === provider && !hasEnded(task))
      }
    })
  )
}
