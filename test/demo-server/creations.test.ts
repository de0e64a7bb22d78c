/** Creations of images and videos are executed and charged once, also after failures, disconnections and retries. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import OpenAI from "openai"
import { thrown } from "../clients/Clients.ts"
import { startPaidServer, codeOf, costs, post, priced, type Server } from "./PaidServer.ts"
import { startServer } from "./TestServer.ts"
import { type Responder, json } from "./Upstream.ts"

const keyed = (name: unknown) => ({
  headers: { "idempotency-key": encodeURIComponent(JSON.stringify(name)) }
})
const image = { model: "painter", prompt: "a lock" }
const film = { model: "animator", prompt: "a lock", seconds: "8" }
const MADE = [
  ["/v1/images/generations", image, { created: 1, data: [{ url: "https://cdn.example/1.png" }] }, 100],
  ["/v1/images/generations", { ...image, size: "2K" }, { id: "a picture" }, 100],
  ["/v1/videos", film, { id: "a film", status: "in_progress", seconds: "8" }, 80]
] as const

const failing: ReadonlyArray<Responder> = [
  (response) => response.destroy(),
  (response) => json(response, { error: { message: "oh" } }, 500),
  (response) => json(response, { error: { message: "overloaded" } }, 503),
  (response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>")
]

describe("a creation with an unknown outcome", () => {
  it.live("is not retried by OpenAI's client", () =>
    Effect.gen(function* () {
      let fail = failing[0]
      const { requests, server } = yield* startPaidServer((...call) => fail?.(...call))
      const client = new OpenAI({ apiKey: server.secrets.apiKey, baseURL: `${server.url}/v1` })
      for (const [at, failure] of failing.entries()) {
        fail = failure
        const make = () =>
          at % 2 === 0 ? client.images.generate(image) : client.videos.create({ ...film, seconds: "8" })
        yield* Effect.promise(() => thrown(make()))
        assert.lengthOf(requests(), at + 1)
      }
    }).pipe(Effect.scoped)
  )

  it.live("is refunded, and not repeated with the same Idempotency-Key", () =>
    Effect.gen(function* () {
      let answer = failing[0]
      const { requests, server } = yield* startPaidServer((...call) => answer?.(...call))
      for (const [path, body] of [MADE[0], MADE[2]]) {
        answer = failing[0]
        const call = post(server, path, body, keyed(path))
        const first = yield* costs(server, call, 0)
        assert.deepStrictEqual([first.status, first.headers.get("x-should-retry")], [502, "false"])
        answer = (response) => json(response, { error: { message: "never asked" } }, 400)
        const again = yield* costs(server, call, 0)
        assert.deepStrictEqual([again.status, codeOf(again)], [502, "idempotency_in_doubt"])
        assert.strictEqual(again.headers.get("x-should-retry"), "false")
      }
      assert.lengthOf(requests(), 2)
      // A rejected creation was not executed.
      const refused = post(server, "/v1/videos", film, keyed("another"))
      yield* refused
      yield* refused
      assert.lengthOf(requests(), 4)
    }).pipe(Effect.scoped)
  )
})

/** Makes a call with an Idempotency-Key, and disconnects once it is running. */
const callAndDisconnect = (server: Server, path: string, body: unknown, isRunning: Effect.Effect<boolean>) =>
  Effect.gen(function* () {
    const first = yield* Effect.forkChild(post(server, path, body, keyed(body)), { startImmediately: true })
    yield* Effect.repeat(isRunning, { schedule: Schedule.spaced("5 millis"), until: Boolean })
    yield* Fiber.interrupt(first)
  })

/** Repeats a call until it is no longer running. */
const repeated = (server: Server, path: string, body: unknown) =>
  Effect.repeat(post(server, path, body, keyed(body)), {
    schedule: Schedule.spaced("10 millis"),
    until: (answer) => answer.status !== 409,
    times: 1000
  })

describe("the response of a creation whose caller has disconnected", () => {
  it.live("is stored under its Idempotency-Key, if an upstream made it", () =>
    Effect.gen(function* () {
      const waiting: Array<() => void> = []
      let answer: unknown
      const { requests, server } = yield* startPaidServer(
        (response) => {
          waiting.push(() => json(response, answer))
        },
        { SLUICE_LOG_REQUESTS: "true" }
      )
      for (const [path, body, made, cost] of MADE) {
        answer = made
        const isRunning = Effect.sync(() => waiting.length > 0)
        yield* costs(server, callAndDisconnect(server, path, body, isRunning), cost)
        const during = yield* post(server, path, body, keyed(body))
        assert.deepStrictEqual([during.status, codeOf(during)], [409, "idempotency_in_flight"])
        waiting.pop()?.()
        const again = yield* costs(server, repeated(server, path, body), 0)
        assert.strictEqual(again.status, 200)
        assert.deepStrictEqual(JSON.parse(again.text), made)
        assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
      }
      assert.lengthOf(requests(), MADE.length)
      // The request is logged after the caller has disconnected.
      const disconnected = yield* Effect.repeat(
        Effect.sync(() => server.printed.filter((line) => line.includes("status=499"))),
        { schedule: Schedule.spaced("5 millis"), until: ({ length }) => length === MADE.length, times: 1000 }
      )
      assert.lengthOf(disconnected, MADE.length)
    }).pipe(Effect.scoped)
  )

  it.live("is stored under its Idempotency-Key, if an embedded model made it", () =>
    Effect.gen(function* () {
      const server = yield* startServer({ env: yield* priced })
      const image = { model: "sluice-image-i2", prompt: "a lock", n: 3, size: "1024x1024" }
      const path = "/v1/images/generations"
      const isRunning = Effect.map(post(server, path, image, keyed(image)), ({ status }) => status === 409)
      yield* costs(server, callAndDisconnect(server, path, image, isRunning), 300)
      const again = yield* costs(server, repeated(server, path, image), 0)
      assert.strictEqual(again.status, 200)
      assert.lengthOf((JSON.parse(again.text) as { readonly data: ReadonlyArray<unknown> }).data, 3)
    }).pipe(Effect.scoped)
  )
})

describe("a video", () => {
  it.live("is charged if it is completed in the first response, or before it is deleted", () =>
    Effect.gen(function* () {
      let status = "completed"
      const { requests, server } = yield* startPaidServer((response, { method }) =>
        json(response, method === "DELETE" ? {} : { id: "film", status })
      )
      const remove = server.call("/v1/videos/film", { method: "DELETE" })
      yield* costs(server, Effect.andThen(post(server, "/v1/videos", film), remove), 80)
      status = "in_progress"
      yield* costs(server, post(server, "/v1/videos", film), 80)
      status = "completed"
      yield* costs(server, remove, 0)
      status = "failed"
      yield* costs(server, post(server, "/v1/videos", film), 0)
      assert.strictEqual(requests().at(-1)?.method, "POST")
    }).pipe(Effect.scoped)
  )

  it.live("costs its seconds, and seconds out of range are rejected", () =>
    Effect.gen(function* () {
      const { requests, server } = yield* startPaidServer((response) =>
        json(response, { id: "film", status: "queued" })
      )
      yield* costs(server, post(server, "/v1/videos", { ...film, seconds: "60" }), 600)
      for (const seconds of ["3600", "61", "0", "0.0", "0.001", "000000000"]) {
        const refused = yield* costs(server, post(server, "/v1/videos", { ...film, seconds }), 0)
        assert.deepStrictEqual([refused.status, requests().length], [400, 1], seconds)
        assert.include(refused.text, '"param":"seconds"')
      }
    }).pipe(Effect.scoped)
  )
})
