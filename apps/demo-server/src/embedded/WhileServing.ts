/** What is made for a caller who waits is made no further when the server ends. */
import { GatewayError, ServerFailure } from "@sluice/core"
import { Duration, Effect, Fiber } from "effect"
import { Shutdown } from "../operation/Shutdown.ts"

const ending = new GatewayError({
  operation: "images",
  reason: new ServerFailure({
    status: 503,
    message: "The server is being stopped: nothing was made, ask again",
    retryAfter: Duration.seconds(1)
  })
})

/** Makes it, and answers at once when the server's time is over: what is in the hands of a library ends after that. */
export const whileServing = Effect.fnUntraced(function* <A>(make: Effect.Effect<A, GatewayError>) {
  const shutdown = yield* Effect.serviceOption(Shutdown)
  if (shutdown._tag === "None") return yield* make
  const making = yield* Effect.forkDetach(Effect.interruptible(make))
  const ended = Effect.andThen(shutdown.value.over, Effect.forkDetach(Fiber.interrupt(making)))
  return yield* Effect.raceFirst(
    Effect.interruptible(Fiber.join(making)),
    Effect.interruptible(Effect.andThen(ended, Effect.fail(ending)))
  )
})
