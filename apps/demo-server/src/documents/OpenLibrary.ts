/** A library that may not be open yet: it is opened when it can be, and tried again when it could not. */
import { Library, type LibraryService, type Models, type RagError } from "@sluice/rag"
import { Effect, Exit, Fiber, Scope, SynchronizedRef } from "effect"

/** What is known without waiting: the open library, else why the last attempt failed, else nothing yet. */
export interface Known {
  readonly library?: LibraryService
  readonly error?: RagError
}

interface Opening extends Known {
  readonly attempt?: Fiber.Fiber<LibraryService, RagError>
}

/**
 * Gives the library of a folder, opened once for as long as the surrounding scope lives.
 *
 * **Details.** `library` waits for the attempt under way, or makes one; its failure is that of this one use, and what
 * it had opened is closed. `known` does not wait.
 */
export const openWhenWanted = Effect.fnUntraced(function* (folder: string) {
  const scope = yield* Effect.scope
  const context = yield* Effect.context<Models>()
  const opening = yield* SynchronizedRef.make<Opening>({})

  const attempt = Effect.gen(function* () {
    const own = yield* Scope.fork(scope)
    return yield* Library.open(folder).pipe(
      Scope.provide(own),
      Effect.provideContext(context),
      Effect.onError((cause) => Scope.close(own, Exit.failCause(cause)))
    )
  }).pipe(
    Effect.tap((library) => SynchronizedRef.set(opening, { library })),
    Effect.tapError((error) => SynchronizedRef.set(opening, { error })),
    Effect.forkIn(scope)
  )

  const library: Effect.Effect<LibraryService, RagError> = SynchronizedRef.modifyEffect(opening, (now) => {
    if (now.library !== undefined) return Effect.succeed([Effect.succeed(now.library), now] as const)
    if (now.attempt !== undefined) return Effect.succeed([Fiber.join(now.attempt), now] as const)
    return Effect.map(attempt, (fiber) => [Fiber.join(fiber), { ...now, attempt: fiber }] as const)
  }).pipe(Effect.flatten)

  return { library, known: SynchronizedRef.get(opening) as Effect.Effect<Known> }
})
