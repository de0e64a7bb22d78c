/** Maps the bytes of a stream, ends it early or when it stalls, and appends an end: one operator for what takes six. */
import { Cause, type Duration, Effect, Pull, Stream } from "effect"

/** A map of one stream's bytes, which has a state. */
export interface BytesMap {
  readonly push: (bytes: Uint8Array) => Uint8Array
  /** Whether nothing more is read. */
  readonly isDone: () => boolean
  /** The bytes at the end. `isBroken`: the stream has failed, or sends nothing for too long. */
  readonly end: (isBroken: boolean) => Uint8Array
}

/**
 * Maps the parts that arrive together as one.
 *
 * **Details.** With `idle`, the longest time between two parts, a stream that fails or stalls has its end too. Without,
 * it fails.
 */
export function mapBytes<E>(
  stream: Stream.Stream<Uint8Array, E>,
  make: () => BytesMap,
  idle: Duration.Duration
): Stream.Stream<Uint8Array>
export function mapBytes<E>(
  stream: Stream.Stream<Uint8Array, E>,
  make: () => BytesMap
): Stream.Stream<Uint8Array, E>
export function mapBytes<E>(
  stream: Stream.Stream<Uint8Array, E>,
  make: () => BytesMap,
  idle?: Duration.Duration
): Stream.Stream<Uint8Array, E> {
  return Stream.transformPull(stream, (pull) =>
    Effect.sync(() => {
      const { end, isDone, push } = make()
      let isOver = false
      type Part = Pull.Pull<readonly [Uint8Array, ...Array<Uint8Array>], E>
      const last = (isBroken: boolean, before: ReadonlyArray<Uint8Array> = []): Part => {
        isOver = true
        const bytes = Buffer.concat([...before, end(isBroken)])
        return bytes.length === 0 ? Cause.done() : Effect.succeed([bytes])
      }
      const next: Part = Effect.suspend(() => {
        if (isOver) return Cause.done()
        const part = Pull.matchEffect(pull, {
          onSuccess: (parts): Part => {
            const bytes = push(parts.length === 1 ? parts[0] : Buffer.concat(parts))
            if (isDone()) return last(false, [bytes])
            return bytes.length === 0 ? next : Effect.succeed([bytes])
          },
          onDone: () => last(false),
          onFailure: (cause) =>
            idle === undefined || Cause.hasInterrupts(cause) ? Effect.failCause(cause) : last(true)
        })
        return idle === undefined
          ? part
          : Effect.timeoutOrElse(part, { duration: idle, orElse: () => last(true) })
      })
      return next
    })
  )
}
