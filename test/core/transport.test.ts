/** What arrives is read in portions. */
import { assert, it } from "@effect/vitest"
import { HttpClient, HttpClientRequest } from "effect/http"
import { Effect, Stream } from "effect"
import { Agent } from "undici"
import { dispatching } from "../../packages/core/src/client/transport/DispatcherTransport.ts"
import { loopback } from "../demo-server/Loopback.ts"

/** Two portions and what a socket gives at once. */
const MOST = 128 * 1024

it.live("a stream at full speed leaves time for other work", () =>
  Effect.gen(function* () {
    const size = 8 * 1024 * 1024
    const { url } = yield* loopback(({ response }) => {
      response.end(Buffer.alloc(size, ": x\n"))
    })
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() => new Agent()),
      (opened) => Effect.promise(() => opened.destroy())
    )
    let [read, between, most] = [0, 0, 0]
    let isOver = false
    const turn = () => {
      most = Math.max(most, between)
      between = 0
      if (!isOver) setImmediate(turn)
    }
    turn()
    const noOther = HttpClient.make(() => Effect.die("no other body is sent"))
    const client = dispatching(agent, noOther)
    const response = yield* client.execute(HttpClientRequest.get(url))
    yield* Stream.runForEach(response.stream, (part) =>
      Effect.sync(() => {
        read += part.length
        between += part.length
      })
    )
    isOver = true
    assert.strictEqual(read, size)
    assert.isBelow(most, MOST)
  }).pipe(Effect.scoped)
)
