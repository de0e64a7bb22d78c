/** The shutdown of the server: readiness fails first, and streams end before their sockets close. */
import { Cause, Context, Deferred, Duration, Effect, Exit, Layer, type Runtime } from "effect"
import { ServerConfig } from "../config/ServerConfig.ts"

/** The part of the shutdown time that is kept for ending streams. */
const FINAL_EVENT_TIME = Duration.seconds(1)

/**
 * The state of the shutdown.
 *
 * **Details.** `begin` is called when the server stops accepting connections. `over` completes shortly before the
 * time for running calls ends: streams that still run end then. `onOver` runs a function then, unless the returned
 * function is called before.
 */
export class Shutdown extends Context.Service<Shutdown>()("@sluice/demo-server/Shutdown", {
  make: Effect.gen(function* () {
    const { operation } = yield* ServerConfig
    const all = Duration.seconds(operation.shutdownSeconds)
    const streams = Duration.max(Duration.subtract(all, FINAL_EVENT_TIME), Duration.times(all, 0.5))
    const begun = yield* Deferred.make<void>()
    const over = yield* Deferred.make<void>()
    const ends = new Set<() => void>()
    yield* Deferred.await(begun).pipe(
      Effect.andThen(Effect.sleep(streams)),
      Effect.andThen(Deferred.succeed(over, undefined)),
      Effect.map(() => ends.forEach((end) => end())),
      Effect.forkScoped
    )
    return {
      begin: (): void => void Deferred.doneUnsafe(begun, Effect.void),
      hasBegun: () => Deferred.isDoneUnsafe(begun),
      isOver: () => Deferred.isDoneUnsafe(over),
      over: Deferred.await(over),
      onOver: (end: () => void) => {
        ends.add(end)
        return (): void => void ends.delete(end)
      }
    }
  })
}) {
  static readonly layer = Layer.effect(Shutdown, Shutdown.make)
}

/** The exit code of the process: a stop by SIGINT or SIGTERM is no failure. */
export const stopTeardown: Runtime.Teardown = (exit, end) =>
  end(Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause) ? 1 : Number(process.exitCode ?? 0))
