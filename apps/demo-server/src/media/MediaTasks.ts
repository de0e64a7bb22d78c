/**
 * The tasks of images and videos: whose they are, who makes them, and how far they are.
 *
 * One file of the data folder for each, so that they outlive the server. What a provider elsewhere makes is here by its
 * id alone: its state is asked for there.
 */
import { GatewayError, InvalidResponse, NotFound } from "@sluice/core"
import { Clock, Context, Duration, Effect, FileSystem, Layer, Path, Schedule, Schema } from "effect"
import { createHash } from "node:crypto"
import { ServerConfig } from "../Config.ts"

/** How long a task is remembered: its files live a day, and whoever asks later should hear that they have expired. */
const TASK_LIFE = Duration.days(7)

const FORGET_EVERY = Duration.hours(1)

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
    /** Nothing happens to a task that was removed meanwhile. */
    readonly update: (id: string, change: Partial<MediaTask>) => Effect.Effect<void>
    readonly remove: (id: string) => Effect.Effect<void>
    /** What is to be done when a task has completed or failed, once it is written down. */
    readonly onEnd: (listener: (task: MediaTask) => Effect.Effect<void>) => Effect.Effect<void>
    /** Those of a provider that have not ended. */
    readonly unended: (provider: string) => ReadonlyArray<MediaTask>
    /** How many there are, of each kind and status. */
    readonly counts: () => ReadonlyArray<Pick<MediaTask, "kind" | "status"> & { readonly number: number }>
  }
>()("@sluice/demo-server/MediaTasks") {
  static readonly layer = Layer.effect(
    MediaTasks,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const { data } = yield* ServerConfig
      const folder = path.join(data, "media", "tasks")
      const tasks = new Map<string, MediaTask>()
      const listeners: Array<(task: MediaTask) => Effect.Effect<void>> = []
      const fileOf = (id: string) =>
        path.join(folder, `${createHash("sha256").update(id).digest("hex")}.json`)

      const save = (task: MediaTask) =>
        fs.makeDirectory(folder, { recursive: true, mode: 0o700 }).pipe(
          Effect.andThen(fs.writeFileString(`${fileOf(task.id)}.new`, JSON.stringify(task), { mode: 0o600 })),
          Effect.andThen(fs.rename(`${fileOf(task.id)}.new`, fileOf(task.id))),
          Effect.catch(({ message }) =>
            Effect.logWarning(
              `A task could not be written: ${message}. It will be lost with the next restart`
            )
          )
        )
      const remove = (id: string) =>
        Effect.suspend(() => {
          tasks.delete(id)
          return Effect.ignore(fs.remove(fileOf(id)))
        })
      const forgetOld = Effect.gen(function* () {
        const oldest = (yield* Clock.currentTimeMillis) - Duration.toMillis(TASK_LIFE)
        for (const { created, id } of tasks.values()) if (created < oldest) yield* remove(id)
      })

      const names = yield* Effect.orElseSucceed(fs.readDirectory(folder), () => [])
      for (const name of names.filter((name) => name.endsWith(".json"))) {
        yield* fs.readFileString(path.join(folder, name)).pipe(
          Effect.flatMap(decode),
          Effect.map((task) => void tasks.set(task.id, task)),
          Effect.catch(() => Effect.logWarning(`The task in ${name} is damaged: it is left out`))
        )
      }
      // What a server left half written that was ended in the middle of it.
      yield* Effect.forEach(
        names.filter((name) => name.endsWith(".new")),
        (name) => Effect.ignore(fs.remove(path.join(folder, name)))
      )
      yield* forgetOld
      yield* Effect.forkScoped(Effect.repeat(forgetOld, Schedule.spaced(FORGET_EVERY)))

      const counts = () => {
        const all = [...tasks.values()]
        return MediaTask.fields.kind.literals.flatMap((kind) =>
          MediaTask.fields.status.literals.map((status) => ({
            kind,
            status,
            number: all.filter((task) => task.kind === kind && task.status === status).length
          }))
        )
      }

      return {
        counts,
        add: (task) =>
          Effect.suspend(() => {
            const { provider, user } = tasks.get(task.id) ?? task
            if (provider !== task.provider || user !== task.user) return Effect.fail(taken(task))
            tasks.set(task.id, task)
            return save(task)
          }),
        find: (kind, id, user) =>
          Effect.suspend(() => {
            const task = tasks.get(id)
            return task?.kind === kind && task.user === user
              ? Effect.succeed(task)
              : Effect.fail(notFound(kind, id))
          }),
        update: (id, change) =>
          Effect.suspend(() => {
            const task = tasks.get(id)
            if (task === undefined) return Effect.void
            const next = { ...task, ...change }
            tasks.set(id, next)
            // How far it is changes often, and begins anew after a restart.
            if (next.status === task.status) return Effect.void
            const ended = next.status === "completed" || next.status === "failed"
            return Effect.andThen(
              save(next),
              ended ? Effect.forEach(listeners, (listener) => listener(next), { discard: true }) : Effect.void
            )
          }),
        onEnd: (listener) => Effect.sync(() => void listeners.push(listener)),
        remove,
        unended: (provider) =>
          [...tasks.values()].filter((task) => task.provider === provider && task.ended === undefined)
      }
    })
  )
}
