/** A client of the loopback gateway, for the tests of images, and what the gateway answers it. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { apiKey, Gateway, type ImageCall } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { type Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { type Behaviour, json, LoopbackGateway } from "./LoopbackGateway.ts"

export const KEY = "sk-canary-5f2e"

/** Hours, so that a machine that is slow for a while is not out of time on the test's clock. */
const patient = { attemptTimeout: "2 hours", callTimeout: "9 hours", maxResponseBytes: 100_000 } as const

export const Client = Layer.unwrap(
  Effect.map(LoopbackGateway, ({ url }) =>
    GatewayClient.layer({ baseUrl: url, apiKey: apiKey(KEY), ...patient })
  )
).pipe(Layer.provideMerge(LoopbackGateway.layer), Layer.provideMerge(NodeFileSystem.layer))

export const tick = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

/** Lets the test's clock run, a step for each turn of the event loop, until an effect has ended. */
export const running = Effect.fn(function* <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  step: Duration.Input = "1 second"
) {
  const fiber = yield* Effect.forkChild(effect)
  while (fiber.pollUnsafe() === undefined) {
    yield* tick
    yield* TestClock.adjust(step)
  }
  return yield* Fiber.join(fiber)
})

export const images = Effect.map(Gateway, (gateway) => gateway.images)
export const untyped = (fields: object) => ({ model: "m", prompt: "p", ...fields }) as ImageCall
export const generate = (fields: object = {}) =>
  Effect.flatMap(images, ({ generate }) => generate(untyped(fields)))

/** What the one request of a behaviour carried. */
export const sent = Effect.map(
  LoopbackGateway,
  ({ seen }) => seen[0]?.body as unknown as Record<string, unknown>
)
export const requests = Effect.map(LoopbackGateway, ({ seen }) =>
  seen.map(({ method, path }) => `${method} ${path}`)
)

export const answering =
  (body: unknown, status = 200): Behaviour =>
  (_, response) =>
    json(response, body, status)

/** Answers a creation with a task, then a look with each of these, the last one for ever. */
export const task =
  (...looks: ReadonlyArray<object>): Behaviour =>
  ({ method }, response, nth) =>
    method === "POST"
      ? json(response, { id: "t/1" })
      : json(response, looks[Math.min(Math.max(nth - 1, 0), looks.length - 1)])

export const sendBytes =
  (bytes: Uint8Array, type = "image/png"): Behaviour =>
  (_, response) => {
    response.writeHead(200, { "content-type": type, "content-length": bytes.length })
    response.end(bytes)
  }

export const url = "https://images.example.com/1.png"
export const link = { url }
