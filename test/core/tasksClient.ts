/** A patient client of the loopback gateway, and a clock that runs: what the tests of images and of videos share. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { apiKey } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { type Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { LoopbackGateway } from "./LoopbackGateway.ts"

export const KEY = "sk-canary-5f2e91c0"

/** Hours, so that a machine that is slow for a while is not out of time on the test's clock. */
export const patient = { attemptTimeout: "2 hours", callTimeout: "9 hours" } as const

export const clientOf = (maxResponseBytes: number) =>
  Layer.unwrap(
    Effect.map(LoopbackGateway, ({ url }) =>
      GatewayClient.layer({ baseUrl: url, apiKey: apiKey(KEY), ...patient, maxResponseBytes })
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

export const requests = Effect.map(LoopbackGateway, ({ seen }) =>
  seen.map(({ method, path }) => `${method} ${path}`)
)
