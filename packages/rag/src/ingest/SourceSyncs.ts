/** Syncs of one source that run at the same time: of two that give the same document, what was given last counts. */
import { Effect, Exit, Semaphore, Stream } from "effect"

/** When documents were given, by identifier. */
type Order = Map<string, number>

interface SourceState {
  /** One sync of all of a source at a time: two would remove each other's documents. */
  readonly whole: Semaphore.Semaphore
  /** One write at a time: a second one could be faster than the first. */
  readonly writes: Semaphore.Semaphore
  running: number
  readonly given: Order
  /** When what was written last, or removed, had been given. */
  readonly written: Order
}

/** A sync that runs. */
export interface SourceSync {
  /** Notes a document that the source gives now, or takes away. */
  readonly note: (id: string, isRemoved: boolean) => void
  /** Runs a write that asks `mayWrite`. */
  readonly write: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Whether this sync may write or remove the document now: nothing that was given later is written. */
  readonly mayWrite: (id: string) => boolean
  /** Whether no sync has given the document since this one began. */
  readonly isMissing: (id: string) => boolean
}

export const makeSourceSyncs = () => {
  const sources = new Map<string, SourceState>()
  let count = 0

  const begin = (state: SourceState) => {
    const { given, writes, written } = state
    const own: Order = new Map()
    const start = ++count
    state.running++
    const timeOf = (order: Order, id: string) => order.get(id) ?? 0
    const mayWrite = (id: string): boolean => {
      const time = timeOf(own, id)
      if (timeOf(written, id) > time) return false
      written.set(id, time)
      return true
    }
    const note = (id: string, isRemoved: boolean): void => {
      own.set(id, ++count)
      given.set(id, count)
      // Of a document that is not stored there is nothing to remove, but another sync may be reading it.
      if (isRemoved) mayWrite(id)
    }
    const end = (exit: Exit.Exit<unknown, unknown>): void => {
      state.running--
      // A document that is unchanged is not written, and yet no older text may replace it.
      if (Exit.isSuccess(exit)) for (const id of own.keys()) mayWrite(id)
      if (state.running > 0) return
      given.clear()
      written.clear()
    }
    const isMissing = (id: string): boolean => timeOf(given, id) < start
    return { end, sync: { note, write: writes.withPermit, mayWrite, isMissing } satisfies SourceSync }
  }

  /** Runs a sync; `isWhole`: it gives all of its source. */
  return <A, E, R>(
    source: string,
    isWhole: boolean,
    run: (sync: SourceSync) => Stream.Stream<A, E, R>
  ): Stream.Stream<A, E, R> => {
    const state = sources.get(source) ?? {
      whole: Semaphore.makeUnsafe(1),
      writes: Semaphore.makeUnsafe(1),
      running: 0,
      given: new Map(),
      written: new Map()
    }
    sources.set(source, state)
    const running = Effect.acquireRelease(
      Effect.sync(() => begin(state)),
      ({ end }, exit) => Effect.sync(() => end(exit))
    ).pipe(Effect.map(({ sync }) => run(sync)))
    const turn = Effect.acquireRelease(state.whole.take(1), () => state.whole.release(1), {
      interruptible: true
    })
    return Stream.unwrap(isWhole ? Effect.andThen(turn, running) : running)
  }
}
