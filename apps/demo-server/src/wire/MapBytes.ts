/** Maps the bytes of a stream with one operator, which costs less per part than the six that it replaces. */
import { Cause, type Duration, Effect, Pull, Stream } from "effect"

/** Maps the bytes of one stream. It has a state. */
export interface BytesMap {
  readonly push: (bytes: Uint8Array) => Uint8Array
  /** Whether the rest of the stream is not read. */
  readonly isDone: () => boolean
  /** The bytes at the end. `fault`: the error of the stream, or that it sends nothing for too long. */
  readonly end: (fault?: unknown) => Uint8Array
}

/**
 * Maps a stream. Parts that arrive together are mapped as one.
 *
 * **Details.** `idle` is the longest time between two parts. With it, a stream that fails or stalls ends with the bytes
 * of `end(fault)`. Without it, a failure passes.
 */
export const mapBytes = <E>(
  stream: Stream.Stream<Uint8Array, E>,
  make: () => BytesMap,
  idle?: Duration.Duration
): Stream.Stream<Uint8Array, E> =>
  Stream.transformPull(stream, (pull) =>
    Effect.sync(() => {
      const { end, isDone, push } = make()
      let isOver = false
      type Part = Pull.Pull<readonly [Uint8Array, ...Array<Uint8Array>], E>
      const last = (fault?: unknown, before: ReadonlyArray<Uint8Array> = []): Part => {
        isOver = true
        const bytes = Buffer.concat([...before, end(fault)])
        return bytes.length === 0 ? Cause.done() : Effect.succeed([bytes])
      }
      const next: Part = Effect.suspend(() => {
        if (isOver) return Cause.done()
        const part = Pull.matchEffect(pull, {
          onSuccess: (parts): Part => {
            const bytes = push(parts.length === 1 ? parts[0] : Buffer.concat(parts))
            if (isDone()) return last(undefined, [bytes])
            return bytes.length === 0 ? next : Effect.succeed([bytes])
          },
          onDone: () => last(),
          onFailure: (cause) =>
            idle === undefined || Cause.hasInterrupts(cause)
              ? Effect.failCause(cause)
              : last(Cause.squash(cause))
        })
        return idle === undefined
          ? part
          : Effect.timeoutOrElse(part, {
              duration: idle,
              orElse: () => last(new Error("The stream stalled."))
            })
      })
      return next
    })
  )
