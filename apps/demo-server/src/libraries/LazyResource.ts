/** A store or a library that may not be open yet: it is opened when it can be, and tried again when it could not. */
import type { RagError } from "@sluice/rag"
import { Effect, Exit, Fiber, Scope, SynchronizedRef } from "effect"

/** What is known without waiting: what is open, else why the last attempt failed, else nothing yet. */
export interface Known<A> {
  readonly open?: A
  readonly error?: RagError
}

interface Opening<A> extends Known<A> {
  readonly attempt?: Fiber.Fiber<A, RagError>
}

/**
 * Gives what `open` opens, opened once for as long as the surrounding scope lives.
 *
 * **Details.** `wanted` waits for the attempt under way, or makes one; its failure is that of this one use, and what
 * it had opened is closed. `known` does not wait.
 */
export const openWhenWanted = Effect.fnUntraced(function* <A, R>(
  open: Effect.Effect<A, RagError, R | Scope.Scope>
) {
  const scope = yield* Effect.scope
  const context = yield* Effect.context<Exclude<R, Scope.Scope>>()
  const opening = yield* SynchronizedRef.make<Opening<A>>({})

  const attempt = Effect.gen(function* () {
    const own = yield* Scope.fork(scope)
    return yield* (open as Effect.Effect<A, RagError, Exclude<R, Scope.Scope> | Scope.Scope>).pipe(
      Scope.provide(own),
      Effect.provideContext(context),
      Effect.onError((cause) => Scope.close(own, Exit.failCause(cause)))
    )
  }).pipe(
    Effect.tap((opened) => SynchronizedRef.set(opening, { open: opened })),
    Effect.tapError((error) => SynchronizedRef.set(opening, { error })),
    Effect.forkIn(scope)
  )

  const wanted: Effect.Effect<A, RagError> = SynchronizedRef.modifyEffect(opening, (now) => {
    if (now.open !== undefined) return Effect.succeed([Effect.succeed(now.open), now] as const)
    if (now.attempt !== undefined) return Effect.succeed([Fiber.join(now.attempt), now] as const)
    return Effect.map(attempt, (fiber) => [Fiber.join(fiber), { ...now, attempt: fiber }] as const)
  }).pipe(Effect.flatten)

  return { wanted, known: SynchronizedRef.get(opening) as Effect.Effect<Known<A>> }
})
