/** `images.progress`: the states of an image task as a stream. */
import { assert, layer } from "@effect/vitest"
import { GatewayError, type ImageAnswer } from "@sluice/core"
import { Effect, Stream } from "effect"
import { behaving } from "./Clients.ts"
import { answering, Client, images, link, task, untyped, url } from "./imagesClient.ts"
import { requests, running } from "./tasksClient.ts"
import { json } from "./LoopbackGateway.ts"

const states = (given: { readonly id: string } | object, options: { readonly deadline?: "1 minute" } = {}) =>
  Effect.gen(function* () {
    const seen: Array<ImageAnswer> = []
    const { progress } = yield* images
    const stream = progress("id" in given ? (given as { readonly id: string }) : untyped(given), options)
    const read = Stream.runForEach(stream, (state) => Effect.sync(() => void seen.push(state)))
    const result = yield* running(Effect.result(read))
    const error = result._tag === "Failure" ? result.failure : undefined
    return {
      error,
      seen: seen.map(({ id, images, status }) => [id, status, images.map(({ url }) => url)])
    }
  })

layer(Client)("the progress of an image", (it) => {
  it.effect("has the id first, then every state until the last", () =>
    Effect.gen(function* () {
      const steps = task(
        { status: "queued" },
        { status: "in_progress", data: [link] },
        { status: "completed", data: [link, link] }
      )
      const { error, seen } = yield* behaving(steps, states({}))
      const expected = [
        ["t/1", "queued", []],
        ["t/1", "in_progress", [url]],
        ["t/1", "completed", [url, url]]
      ]
      assert.deepStrictEqual(seen, [["t/1", undefined, []], ...expected])
      assert.isUndefined(error)
      const resumed = yield* behaving(
        ({ method }, response, nth) =>
          steps({ method: "GET" } as never, response, nth + (method === "GET" ? 1 : 0)),
        Effect.zip(states({ id: "t/1" }), requests)
      )
      assert.deepStrictEqual(resumed[0].seen, expected)
      assert.notInclude(resumed[1].join(), "POST")
    })
  )

  it.effect("has one state if the model responds at once", () =>
    Effect.gen(function* () {
      const { seen } = yield* behaving(answering({ data: [link] }), states({}))
      assert.deepStrictEqual(seen, [[undefined, undefined, [url]]])
    })
  )

  it.effect("ends at the deadline after images, and else fails", () =>
    Effect.gen(function* () {
      const minute = { deadline: "1 minute" } as const
      const some = yield* behaving(task({ status: "running", data: [link] }), states({}, minute))
      assert.isUndefined(some.error)
      assert.deepStrictEqual(some.seen.at(-1), ["t/1", "running", [url]])
      const none = yield* behaving(task({ status: "running" }), states({}, minute))
      assert.deepStrictEqual([none.error?.reason._tag, none.error?.task], ["TimedOut", "t/1"])
    })
  )

  it.effect("emits a failed or empty last state, then fails", () =>
    Effect.gen(function* () {
      const failed = yield* behaving(task({ status: "failed", error: { message: "Not that" } }), states({}))
      assert.deepStrictEqual(failed.seen.at(-1), ["t/1", "failed", []])
      assert.strictEqual(failed.error?.reason._tag, "TaskFailed")
      const empty = yield* behaving(task({ status: "completed" }), states({}))
      assert.deepStrictEqual(empty.seen.at(-1), ["t/1", "completed", []])
      assert.deepInclude(empty.error, { task: "t/1", taskCreated: true })
      assert.strictEqual(empty.error?.reason._tag, "InvalidResponse")
    })
  )

  it.effect("refuses an argument that is no object", () =>
    Effect.gen(function* () {
      const { progress } = yield* images
      const error = yield* Effect.flip(Stream.runDrain(progress("t/1" as never)))
      assert.instanceOf(error, GatewayError)
      assert.include(error.message, "not an object")
    }).pipe((effect) => behaving((_, response) => json(response, {}), effect))
  )
})
