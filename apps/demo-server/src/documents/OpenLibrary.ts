/** A library that may not be open yet: it is opened when it can be, and asked for again when it could not. */
import { Library, type LibraryService, type Models, type RagError } from "@sluice/rag"
import { Effect, Exit, Ref, Scope, Semaphore } from "effect"

/**
 * Gives the library of a folder, opened at most once for as long as the surrounding scope lives.
 *
 * **Details.** Each failure to open is the failure of that one use. What an attempt had opened is closed.
 */
export const openWhenWanted = Effect.fnUntraced(function* (folder: string) {
  const scope = yield* Effect.scope
  const context = yield* Effect.context<Models>()
  const opened = yield* Ref.make<LibraryService | undefined>(undefined)
  const one = yield* Semaphore.make(1)

  const open = Effect.gen(function* () {
    const already = yield* Ref.get(opened)
    if (already !== undefined) return already
    const attempt = yield* Scope.fork(scope)
    const library = yield* Library.open(folder).pipe(
      Scope.provide(attempt),
      Effect.provideContext(context),
      Effect.onError((cause) => Scope.close(attempt, Exit.failCause(cause)))
    )
    yield* Ref.set(opened, library)
    return library
  }).pipe(one.withPermits(1))

  const library: Effect.Effect<LibraryService, RagError> = Effect.flatMap(Ref.get(opened), (already) =>
    already === undefined ? open : Effect.succeed(already)
  )
  return { library, isOpen: Effect.map(Ref.get(opened), (library) => library !== undefined) }
})
