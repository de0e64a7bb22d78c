/** Compacts the collections and deletes unreferenced files, once an hour for all servers of a database. */
import { Clock, Context, Effect, Layer, Schedule, Schema } from "effect"
import { PersistedQueue } from "effect/persistence"
import { ServerConfig } from "../config/ServerConfig.ts"
import { messageOf } from "../libraries/RagFailure.ts"
import { UserLibraries } from "../libraries/UserLibraries.ts"

const INTERVAL_MILLIS = 60 * 60 * 1000

const Target = Schema.Struct({ user: Schema.String, collection: Schema.String })

/** Each server offers what it has open, under a name of the hour: the queue takes each name once. */
export class Maintenance extends Context.Service<Maintenance>()("@sluice/demo-server/Maintenance", {
  make: Effect.gen(function* () {
    const libraries = yield* UserLibraries
    const { jobs } = (yield* ServerConfig).operation
    const queue = yield* PersistedQueue.make({ name: "maintenance", schema: Target, maxAttempts: 2 })
    const offer = Effect.gen(function* () {
      const hour = Math.floor((yield* Clock.currentTimeMillis) / INTERVAL_MILLIS)
      for (const { collection, user } of yield* libraries.openCollections)
        yield* queue.offer({ user, collection }, { id: JSON.stringify([hour, user, collection]) })
    }).pipe(Effect.catch((error) => Effect.logWarning("The maintenance could not be planned", error)))
    yield* Effect.forkScoped(Effect.schedule(offer, Schedule.spaced(INTERVAL_MILLIS)))

    const maintain = Effect.fn("Maintenance.run")(function* ({ collection, user }: typeof Target.Type) {
      const run = Effect.gen(function* () {
        const { library } = yield* (yield* libraries.of(user)).collection(collection, false)
        yield* (yield* library).maintain
      })
      yield* Effect.catchTag(run, "RagError", (error) =>
        Effect.logWarning(`Maintenance of the collection "${collection}" failed: ${messageOf(error)}`)
      )
    })
    const takeOne = Effect.catchCause(queue.take(maintain), (cause) =>
      Effect.andThen(Effect.logWarning("Maintenance failed", cause), Effect.sleep("1 minute"))
    )
    if (jobs > 0) yield* Effect.forkScoped(Effect.forever(takeOne))
    return { offer }
  })
}) {
  static readonly layer = Layer.effect(Maintenance, Maintenance.make)
}
