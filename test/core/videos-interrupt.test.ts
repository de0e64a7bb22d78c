/** What becomes of a video task when the wait for it is interrupted. */
import { assert, layer } from "@effect/vitest"
import { apiKey, Gateway } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Deferred, Effect, Exit, Fiber, Layer, Logger, Stream } from "effect"
import { type Behaviour, json, LoopbackGateway } from "./LoopbackGateway.ts"
import { KEY, patient, requests, running, tick } from "./tasksClient.ts"
import { call, Client, states, videos } from "./videosClient.ts"

const CREATE = "POST /v1/videos"
const LOOK = "GET /v1/videos/v-1"
const REMOVE = "DELETE /v1/videos/v-1"
const remove = { onInterrupt: "remove", every: "1 second" } as const

/** Interrupts an effect when the gateway has this many requests, and gives the log. */
const interrupted = Effect.fn(function* <A, E, R>(effect: Effect.Effect<A, E, R>, after: number) {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => void lines.push(String(message)))
  const { seen } = yield* LoopbackGateway
  const fiber = yield* Effect.forkChild(
    running(
      Effect.gen(function* () {
        const inner = yield* Effect.forkChild(effect)
        while (seen.length < after) yield* tick
        yield* Fiber.interrupt(inner)
        return yield* Fiber.await(inner)
      })
    ).pipe(Effect.provide(Logger.layer([logger])))
  )
  assert.isTrue(Exit.hasInterrupts(yield* Fiber.join(fiber)))
  return lines
})

const working = states({ status: "in_progress" })
const removable: Behaviour = (seen, response, nth) =>
  seen.method === "DELETE" ? json(response, { id: "v-1", deleted: true }) : working(seen, response, nth)

layer(Client)("an interrupted wait for a video", (it) => {
  it.effect("removes a created or resumed task if the caller requests it", () =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      const { generate, progress, resume } = yield* videos
      const waits = [
        [generate(call, remove), [CREATE, LOOK, REMOVE]],
        [Stream.runDrain(progress(call, remove)), [CREATE, LOOK, REMOVE]],
        [resume("v-1", remove), [LOOK, LOOK, REMOVE]]
      ] as ReadonlyArray<[Effect.Effect<unknown, unknown>, Array<string>]>
      for (const [wait, expected] of waits) {
        behave(removable)
        assert.deepStrictEqual(yield* interrupted(wait, 2), [])
        assert.deepStrictEqual(yield* requests, expected)
      }
    })
  )

  it.effect("removes a task whose creation is answered after the interruption", () =>
    Effect.gen(function* () {
      const { behave, seen } = yield* LoopbackGateway
      const answer = yield* Deferred.make<void>()
      behave((seen, response, nth) => {
        if (seen.method !== "POST") return removable(seen, response, nth)
        Effect.runFork(
          Effect.andThen(
            Deferred.await(answer),
            Effect.sync(() => working(seen, response, nth))
          )
        )
      })
      const fiber = yield* Effect.forkChild((yield* videos).generate(call, remove))
      while (seen.length === 0) yield* tick
      const interruption = yield* Effect.forkChild(Fiber.interrupt(fiber), { startImmediately: true })
      yield* Deferred.succeed(answer, undefined)
      yield* Fiber.join(interruption)
      assert.deepStrictEqual(yield* requests, [CREATE, REMOVE])
    })
  )

  it.effect("warns if the gateway refuses the removal", () =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      behave((seen, response, nth) =>
        seen.method === "DELETE"
          ? json(response, { error: { message: "It is being generated" } }, 400)
          : working(seen, response, nth)
      )
      const [line = "", ...more] = yield* interrupted((yield* videos).generate(call, remove), 2)
      assert.deepStrictEqual(more, [])
      assert.match(line, /^Interrupted, and not removed: It is being generated; .* by its id, v-1\.$/)
    })
  )

  it.effect("leaves the task at the deadline, at its end, and to a reader who stops", () =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      const { generate, progress } = yield* videos
      behave(removable)
      yield* Effect.flip(running(generate(call, { ...remove, deadline: "3 seconds" })))
      yield* Stream.runDrain(Stream.take(progress(call, remove), 1))
      behave(states({ status: "completed" }))
      yield* running(generate(call, remove))
      assert.notInclude(yield* requests, REMOVE)
      behave(() => undefined)
      const late = yield* Effect.flip(running(generate(call, { ...remove, deadline: "3 seconds" })))
      assert.strictEqual(late.reason._tag, "TimedOut")
    })
  )

  it.effect("takes the client's option, which a call overrides", () =>
    Effect.gen(function* () {
      const { behave, url } = yield* LoopbackGateway
      const options = { baseUrl: url, apiKey: apiKey(KEY), ...patient, videos: remove }
      yield* Effect.gen(function* () {
        const { resume } = (yield* Gateway).videos
        behave(removable)
        yield* interrupted(resume("v-1"), 1)
        assert.include(yield* requests, REMOVE)
        behave(removable)
        yield* interrupted(resume("v-1", { onInterrupt: "leave" }), 1)
        assert.notInclude(yield* requests, REMOVE)
      }).pipe(Effect.provide(Layer.fresh(GatewayClient.layer(options))))
    })
  )
})
