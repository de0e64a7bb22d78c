/** The models of media and pictures are shared fairly between users. */
import { assert, it } from "@effect/vitest"
import { WorkerUser } from "@sluice/core/workers"
import { animate, paint } from "@sluice/embedded/media"
import { makeOcr } from "@sluice/embedded/vision"
import { Effect } from "effect"
import { BLUE, png } from "../laws/Pictures.ts"

/** Six calls of one user, then one of another: the order in which they end. */
const orderOf = <A, E>(call: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const ended: Array<string> = []
    const callOf = (user: string) =>
      call.pipe(Effect.andThen(Effect.sync(() => ended.push(user))), Effect.provideService(WorkerUser, user))
    yield* Effect.forEach(["a", "a", "a", "a", "a", "a", "b"], callOf, { concurrency: "unbounded" })
    return ended
  })

const assertFair = (order: ReadonlyArray<string>): void => {
  assert.strictEqual(order.length, 7)
  assert.isBelow(order.indexOf("b"), 5, order.join(" "))
}

const size = { prompt: "boats", width: 64, height: 64 }

it.live("a picture is drawn before the rest of another user's pictures", () =>
  Effect.map(orderOf(paint({ ...size, format: "png" })), assertFair)
)

it.live(
  "a film is made before the rest of another user's films",
  () => Effect.map(orderOf(animate({ ...size, seconds: 0.1 })), assertFair),
  60_000
)

it.live(
  "the text of a picture is recognized before the rest of another user's pictures",
  () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { recognize } = yield* makeOcr
        assertFair(yield* orderOf(recognize(png(BLUE))))
      })
    ),
  60_000
)
