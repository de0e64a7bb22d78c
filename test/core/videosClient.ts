/** What the tests of videos share: a patient client of the loopback gateway, a clock that runs, a film, a folder. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { apiKey, Gateway, type VideoCall } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Effect, Fiber, FileSystem, Layer } from "effect"
import { TestClock } from "effect/testing"
import { type Behaviour, json, LoopbackGateway } from "./LoopbackGateway.ts"
import { mp4 } from "./videosHandlers.ts"

export const KEY = "sk-canary-5f2e"

/** Hours, so that a machine that is slow for a while is not out of time on the test's clock. */
export const patient = { attemptTimeout: "2 hours", callTimeout: "9 hours", maxResponseBytes: 2000 } as const

export const Client = Layer.unwrap(
  Effect.map(LoopbackGateway, ({ url }) =>
    GatewayClient.layer({ baseUrl: url, apiKey: apiKey(KEY), ...patient })
  )
).pipe(Layer.provideMerge(LoopbackGateway.layer), Layer.provideMerge(NodeFileSystem.layer))

export const tick = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

/** Lets the test's clock run, a second for each turn of the event loop, until an effect has ended. */
export const running = Effect.fn(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const fiber = yield* Effect.forkChild(effect)
  while (fiber.pollUnsafe() === undefined) {
    yield* tick
    yield* TestClock.adjust("1 second")
  }
  return yield* Fiber.join(fiber)
})

export const videos = Effect.map(Gateway, (gateway) => gateway.videos)
export const call: VideoCall = {
  group: "V-A",
  model: "v",
  prompt: "A lock opens",
  seconds: "8",
  size: "1280x720"
}

/** Answers a creation with `queued`, then a look with each of these, the last one for ever. */
export const states =
  (...looks: ReadonlyArray<object | Behaviour>): Behaviour =>
  (seen, response, nth) => {
    if (seen.method === "POST") return json(response, { id: "v-1", status: "queued" })
    const look = looks[Math.min(nth - 1, looks.length - 1)] ?? {}
    return typeof look === "function" ? look(seen, response, nth) : json(response, { id: "v-1", ...look })
  }

export const requests = Effect.map(LoopbackGateway, ({ seen }) =>
  seen.map(({ method, path }) => `${method} ${path}`)
)

export const film = mp4(4000)

export const sendFilm: Behaviour = (_, response) => {
  response.writeHead(200, { "content-type": "video/mp4", "content-length": film.length })
  response.end(film)
}

/** A folder of the test's own, and what lies in it. */
export const folder = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const path = yield* files.makeTempDirectoryScoped({ prefix: "sluice-videos-" })
  return { path, file: `${path}/film.mp4`, listed: files.readDirectory(path), files }
})
