/** A store or library that opens at its first use, and is tried again at the next use after a failure. */
import type { RagError } from "@sluice/rag"
import { Effect, Exit, Fiber, Scope, SynchronizedRef } from "effect"

/** The open resource, or the error of the last attempt, or neither before the first attempt ends. */
export interface LazyStatus<A> {
  readonly open?: A
  readonly error?: RagError
}

interface State<A> extends LazyStatus<A> {
  readonly attempt?: Fiber.Fiber<A, RagError>
}

/**
 * Makes a resource that is opened once and stays open as long as the surrounding scope.
 *
 * **Details.** `get` waits for the running attempt or starts one. A failed attempt closes what it opened and fails that
 * one `get`. `status` does not wait.
 */
export const makeLazy = Effect.fnUntraced(function* <A>(open: Effect.Effect<A, RagError, Scope.Scope>) {
  const scope = yield* Effect.scope
  const state = yield* SynchronizedRef.make<State<A>>({})

  const attempt = Effect.gen(function* () {
    const attemptScope = yield* Scope.fork(scope)
    return yield* open.pipe(
      Scope.provide(attemptScope),
      Effect.onError((cause) => Scope.close(attemptScope, Exit.failCause(cause)))
    )
  }).pipe(
    Effect.tap((opened) => SynchronizedRef.set(state, { open: opened })),
    Effect.tapError((error) => SynchronizedRef.set(state, { error })),
    Effect.forkIn(scope)
  )

  const get: Effect.Effect<A, RagError> = SynchronizedRef.modifyEffect(state, (now) => {
    if (now.open !== undefined) return Effect.succeed([Effect.succeed(now.open), now] as const)
    if (now.attempt !== undefined) return Effect.succeed([Fiber.join(now.attempt), now] as const)
    return Effect.map(attempt, (fiber) => [Fiber.join(fiber), { ...now, attempt: fiber }] as const)
  }).pipe(Effect.flatten)

  return { get, status: SynchronizedRef.get(state) as Effect.Effect<LazyStatus<A>> }
})
