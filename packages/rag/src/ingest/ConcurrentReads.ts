/** Reads items concurrently. The results are in order, but an item that takes long holds up no others. */
import { Effect, Fiber, Option, Queue, Semaphore, Stream } from "effect"

/** Items that are read at the same time. */
const CONCURRENCY = 2
/** An item that takes longer, such as a scan, is overtaken by those after it. */
const PATIENCE = "2 seconds"
/** Such items that are read at the same time, which limits the memory. More of them are read again when it is their turn, … */
const SLOW_ITEMS = 4
/** … unless they hold more bytes than this. */
const POSTPONED_BYTES = 128 * 1024 * 1024

/**
 * The results of `read`. `order` counts the items from 0.
 *
 * **Details.** The result of an overtaken item comes when it is ready, or not at all if it `isStale` by then.
 */
export const readConcurrently = <A, B, E, R>(
  items: Stream.Stream<A, E, R>,
  read: (item: A, order: number) => Effect.Effect<B>,
  isStale: (item: A, order: number) => boolean,
  bytesOf: (item: A) => number
): Stream.Stream<B, E, R> =>
  Stream.callback<B, E, R>(
    (queue) =>
      Effect.gen(function* () {
        const scope = yield* Effect.scope
        const slots = Semaphore.makeUnsafe(SLOW_ITEMS)
        const slow: Array<Fiber.Fiber<unknown>> = []
        let postponedBytes = 0
        const deliver = (item: A, order: number, result: Effect.Effect<B>) =>
          Effect.flatMap(result, (value) =>
            isStale(item, order) ? Effect.void : Effect.asVoid(Queue.offer(queue, value))
          )
        const postpone = (item: A, order: number) => {
          const bytes = bytesOf(item)
          postponedBytes += bytes
          return slots
            .withPermit(
              deliver(
                item,
                order,
                Effect.suspend(() => read(item, order))
              )
            )
            .pipe(Effect.ensuring(Effect.sync(() => (postponedBytes -= bytes))))
        }
        const readOne = Effect.fnUntraced(function* (item: A, order: number) {
          const fiber = yield* Effect.forkIn(read(item, order), scope, { startImmediately: true })
          const result = yield* Effect.timeoutOption(Fiber.join(fiber), PATIENCE)
          if (Option.isSome(result)) return [result.value]
          const hasSlot = yield* slots.takeIfAvailable(1)
          if (!hasSlot && postponedBytes + bytesOf(item) <= POSTPONED_BYTES) {
            yield* Fiber.interrupt(fiber)
            slow.push(yield* Effect.forkIn(postpone(item, order), scope))
            return []
          }
          if (!hasSlot) yield* slots.take(1)
          const delivered = Effect.ensuring(deliver(item, order, Fiber.join(fiber)), slots.release(1))
          slow.push(yield* Effect.forkIn(delivered, scope))
          return []
        })
        yield* items.pipe(
          Stream.zipWithIndex,
          Stream.mapEffect(([item, order]) => readOne(item, order), { concurrency: CONCURRENCY }),
          Stream.flattenIterable,
          Stream.runForEach((value) => Queue.offer(queue, value))
        )
        yield* Fiber.joinAll(slow)
        yield* Queue.end(queue)
      }),
    { bufferSize: 1 }
  )
