/** That the server is being stopped: who asks for readiness hears it, and streams end before their sockets do. */
import { Context, Deferred, Duration, Effect, Layer } from "effect"
import { ServerConfig } from "../config/ServerConfig.ts"

/** Of the time that calls have to finish, how much is kept for telling the streams that it is over. */
const FAREWELL = Duration.seconds(1)

/**
 * The end of the server.
 *
 * **Details.** `begin` is called when the socket stops taking connections. Shortly before the time for calls under way
 * has passed, `over` ends: what still streams ends then.
 */
export class Shutdown extends Context.Service<
  Shutdown,
  {
    readonly begin: () => void
    readonly hasBegun: () => boolean
    readonly isOver: () => boolean
    readonly over: Effect.Effect<void>
  }
>()("@sluice/demo-server/Shutdown") {
  static readonly layer = Layer.effect(
    Shutdown,
    Effect.gen(function* () {
      const { operation } = yield* ServerConfig
      const all = Duration.seconds(operation.shutdownSeconds)
      const streams = Duration.max(Duration.subtract(all, FAREWELL), Duration.times(all, 0.5))
      const begun = yield* Deferred.make<void>()
      const over = yield* Deferred.make<void>()
      yield* Deferred.await(begun).pipe(
        Effect.andThen(Effect.sleep(streams)),
        Effect.andThen(Deferred.succeed(over, undefined)),
        Effect.forkScoped
      )
      return {
        begin: () => Deferred.doneUnsafe(begun, Effect.void),
        hasBegun: () => Deferred.isDoneUnsafe(begun),
        isOver: () => Deferred.isDoneUnsafe(over),
        over: Deferred.await(over)
      }
    })
  )
}
