/** Billing of tasks, rate limits, and calls that are repeated with an Idempotency-Key. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { bearer, MadeKey, MadeUser } from "./AccountCalls.ts"
import {
  startPaidServer,
  chat,
  CHAT_INPUT,
  codeOf,
  costs,
  embed,
  events,
  piece,
  post,
  priced,
  vectors
} from "./PaidServer.ts"
import { type CallOptions, startServer } from "./TestServer.ts"
import { json } from "./Upstream.ts"

describe("a task", () => {
  it.live("is charged once when it completes, and refunded when it fails or is deleted before", () =>
    Effect.gen(function* () {
      const states = new Map<string, string>()
      const { server } = yield* startPaidServer((response, { method, path }) => {
        const id = path.split("/")[3] ?? `task-${states.size}`
        if (method === "POST") states.set(id, "in_progress")
        json(response, { id, status: states.get(id), seconds: "8" })
      })
      const create = Effect.map(
        post(server, "/v1/videos", { model: "v", prompt: "p", seconds: "8" }),
        ({ text }) => String((JSON.parse(text) as { readonly id?: unknown }).id)
      )
      const look = (id: string) => server.call(`/v1/videos/${id}`)
      const remove = (id: string) => server.call(`/v1/videos/${id}`, { method: "DELETE" })

      const made = yield* costs(server, create, 80)
      states.set(made, "completed")
      yield* costs(server, Effect.all([look(made), look(made), remove(made)], { concurrency: 3 }), 0)

      const failed = yield* costs(server, create, 80)
      yield* costs(server, look(failed), 0)
      states.set(failed, "failed")
      yield* costs(server, Effect.all([look(failed), look(failed)], { concurrency: 2 }), -80)
      yield* costs(server, remove(failed), 0)

      const removed = yield* costs(server, create, 80)
      yield* costs(server, remove(removed), -80)
    }).pipe(Effect.scoped)
  )

  it.live("costs the images and seconds that its response reports", () =>
    Effect.gen(function* () {
      let made: object = {}
      const { server } = yield* startPaidServer((response, { method, path }) => {
        if (method === "POST") return json(response, { id: "task", status: "queued" })
        if (!path.endsWith("/content")) return json(response, { id: "task", status: "completed", ...made })
        response.writeHead(200, { "content-type": "video/mp4" })
        response.end("film")
      })
      const three = { model: "v", prompt: "p", n: 3 }
      const film = { model: "v", prompt: "p" }
      const images = "/v1/images/generations"
      for (const [path, body, reserved, completion, refunded, look] of [
        [images, three, 300, { data: [{ url: "https://cdn.example/1.png" }] }, 200, ""],
        [
          images,
          three,
          300,
          { data: Array.from({ length: 50 }, () => ({ url: "https://cdn.example/1.png" })) },
          0,
          ""
        ],
        [images, three, 300, { data: [null, { url: null }, { b64_json: "AA==" }] }, 200, ""],
        [images, three, 300, { data: [null, null] }, 300, ""],
        [images, three, 300, {}, 0, ""],
        ["/v1/videos", film, 150, { seconds: "4" }, 110, ""],
        ["/v1/videos", film, 150, { seconds: "4" }, 110, "/content"],
        ["/v1/videos", film, 150, { seconds: "400" }, 0, ""],
        ["/v1/videos", film, 150, { seconds: "none" }, 0, ""]
      ] as const) {
        made = completion
        yield* costs(server, post(server, path, body), reserved)
        yield* costs(server, server.call(`${path}/task${look}`), -refunded)
      }
    }).pipe(Effect.scoped)
  )

  it.live("costs its images also if the response is large and ends with usage", () =>
    Effect.gen(function* () {
      const data = [{ b64_json: "A".repeat(100_000) }]
      const made = { data, usage: { total_tokens: 5 } }
      let created: object = made
      const { server } = yield* startPaidServer((response, { method }) =>
        json(response, method === "POST" ? created : { id: "task", status: "completed", ...made })
      )
      const images = "/v1/images/generations"
      const three = post(server, images, { model: "v", prompt: "p", n: 3 })
      yield* costs(server, three, 100)
      created = { id: "task", status: "queued" }
      yield* costs(server, three, 300)
      yield* costs(server, server.call(`${images}/task`), -200)
    }).pipe(Effect.scoped)
  )

  it.live("is not created if the response has the images, also if it has an id", () =>
    Effect.gen(function* () {
      const answer = { id: "always", data: [{ url: "https://cdn.example/1.png" }] }
      const { server } = yield* startPaidServer((response) => json(response, answer))
      const two = post(server, "/v1/images/generations", { model: "v", prompt: "p", n: 2 })
      assert.strictEqual((yield* costs(server, two, 100)).status, 200)
      const look = yield* server.call("/v1/images/generations/always")
      assert.strictEqual(look.status, 404)
    }).pipe(Effect.scoped)
  )

  it.live("costs only the entries of `data` that have an image", () =>
    Effect.gen(function* () {
      const url = "https://cdn.example/1.png"
      let data: ReadonlyArray<unknown> = [{ url }, null, { url: "" }, { base64_json: "AA==" }]
      const { server } = yield* startPaidServer((response) => json(response, { data }))
      const four = post(server, "/v1/images/generations", { model: "v", prompt: "p", n: 4 })
      assert.strictEqual((yield* costs(server, four, 200)).status, 200)
      // In a gateway's own formats.
      data = [url, { image_url: url }, { url: null, revised_prompt: "p" }, {}]
      assert.strictEqual((yield* costs(server, four, 200)).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("accepts every valid task id, also if it is long when encoded", () =>
    Effect.gen(function* () {
      let id = ""
      const { requests, server } = yield* startPaidServer((response, { method, path }) => {
        if (method === "DELETE") return json(response, {})
        if (!path.endsWith("/content")) return json(response, { id, status: "completed" })
        response.writeHead(200, { "content-type": "video/mp4" }).end("film")
      })
      for (const task of ["a".repeat(101), "a".repeat(4096), "錠".repeat(512), "a/b?c#d%2F"]) {
        id = task
        yield* post(server, "/v1/videos", { model: "v", prompt: "p" })
        const path = `/v1/videos/${encodeURIComponent(id)}`
        for (const url of [path, `${path}/content`]) assert.strictEqual((yield* server.call(url)).status, 200)
        assert.strictEqual((yield* server.call(path, { method: "DELETE" })).status, 200)
        assert.strictEqual(requests().at(-1)?.path, path)
        yield* post(server, "/v1/images/generations", { model: "v", prompt: "p" })
        const image = `/v1/images/generations/${encodeURIComponent(id)}`
        assert.strictEqual((yield* server.call(image)).status, 200)
      }
      assert.strictEqual((yield* server.call(`/v1/videos/${"a".repeat(4097)}`)).status, 400)
      for (const none of ["..", "a\0b", "a".repeat(4097)]) {
        id = none
        const made = yield* costs(server, post(server, "/v1/videos", { model: "v", prompt: "p" }), 0)
        assert.strictEqual(made.status, 502)
        assert.include(made.text, "returned no id")
      }
    }).pipe(Effect.scoped)
  )

  it.live("with the id of another task fails with a message that it may have been executed", () =>
    Effect.gen(function* () {
      const { server } = yield* startPaidServer((response) =>
        json(response, { id: "always", status: "queued" })
      )
      const ann = yield* server.json(MadeUser, "/api/user", {
        as: "token",
        json: { username: "ann", quota: 1000 }
      })
      const token = { name: "first", expired_time: -1, remain_quota: 1000, subnet: "" }
      const { data } = yield* server.json(MadeKey, "/api/token/", {
        ...bearer(ann.data.access_token),
        json: token
      })
      const film = { model: "v", prompt: "p" }
      assert.strictEqual((yield* post(server, "/v1/videos", film)).status, 200)
      const second = yield* post(server, "/v1/videos", film, bearer(data.key))
      assert.deepStrictEqual([second.status, second.headers.get("x-should-retry")], [502, "false"])
      assert.include(second.text, "a task id that another task already has")
      assert.include(second.text, "It may have been executed and charged. Check before repeating it.")
    }).pipe(Effect.scoped)
  )

  it.live("without a usable id fails and is refunded", () =>
    Effect.gen(function* () {
      let answer: unknown
      const { server } = yield* startPaidServer((response) => json(response, answer))
      for (const [path, without] of [
        ["/v1/videos", { status: "queued" }],
        ["/v1/videos", { id: { at: 5 }, status: "queued" }],
        ["/v1/videos", { success: false, message: "no" }],
        ["/v1/images/generations", { status: "pending" }],
        ["/v1/images/generations", { data: [] }]
      ] as const) {
        answer = without
        const made = yield* costs(server, post(server, path, { model: "v", prompt: "p" }), 0)
        assert.strictEqual(made.status, 502, JSON.stringify(without))
        assert.match(made.text, /It may have been executed and charged. Check before/)
      }
    }).pipe(Effect.scoped)
  )

  it.live(
    "of an embedded model is charged or refunded when it ends, also if its status is not requested",
    () =>
      Effect.gen(function* () {
        const server = yield* startServer({ env: yield* priced })
        const video = (model: string) => post(server, "/v1/videos", { model, prompt: "p", seconds: "4" })
        yield* costs(server, video("sluice-video-failing"), 0)
        const image = { model: "sluice-image-i5-task", prompt: "a lock", aspect_ratio: "1:1" }
        const { text } = yield* costs(server, post(server, "/v1/images/generations", image), 100)
        const { id } = JSON.parse(text) as { readonly id: string }
        yield* Effect.repeat(
          Effect.flatMap(server.call(`/v1/images/generations/${id}`), (response) =>
            Effect.promise(() => response.text())
          ),
          { schedule: Schedule.spaced("20 millis"), until: (text) => text.includes("completed"), times: 1000 }
        )
        yield* costs(server, Effect.void, 0)
        const two = { model: "sluice-image-i2", prompt: "a lock", n: 2, size: "64x64" }
        yield* costs(server, post(server, "/v1/images/generations", two), 200)
      }).pipe(Effect.scoped)
  )
})

describe("rate limits", () => {
  it.live("are in the headers of each response, and 429 has a retry-after", () =>
    Effect.gen(function* () {
      const { requests, server } = yield* startPaidServer((response) => json(response, vectors()), {
        SLUICE_REQUESTS_PER_MINUTE: "2",
        SLUICE_TOKENS_PER_MINUTE: "1000"
      })
      const calls = yield* Effect.forEach([1, 2, 3, 4, 5], () => post(server, "/v1/embeddings", embed))
      // The minute may end in between.
      const refused = calls.filter(({ status }) => status === 429)
      assert.isNotEmpty(refused)
      assert.lengthOf(requests(), calls.length - refused.length)
      assert.isAtMost(requests().length, 4)
      for (const call of refused) {
        assert.strictEqual(codeOf(call), "rate_limited")
        const seconds = Number(call.headers.get("retry-after"))
        assert.isTrue(seconds >= 1 && seconds <= 60)
        assert.strictEqual(call.headers.get("x-ratelimit-remaining-requests"), "0")
      }
      const first = calls[0]?.headers
      assert.strictEqual(first?.get("x-ratelimit-limit-requests"), "2")
      assert.strictEqual(first?.get("x-ratelimit-remaining-requests"), "1")
      assert.strictEqual(first?.get("x-ratelimit-limit-tokens"), "1000")
      assert.match(first?.get("x-ratelimit-reset-tokens") ?? "", /^\d+s$/)
    }).pipe(Effect.scoped)
  )
})

describe("Idempotency-Key", () => {
  it.live("repeats JSON and streamed responses without a second call or charge", () =>
    Effect.gen(function* () {
      const { requests, server } = yield* startPaidServer((response, { body }) => {
        if (!body.includes('"stream":true')) return json(response, vectors({ prompt_tokens: 3 }))
        events(response, piece("one"))
        response.end("data: [DONE]\n\n")
      })
      const keyed = (name: string): CallOptions => ({ headers: { "idempotency-key": name } })
      const once = post(server, "/v1/embeddings", embed, keyed("a"))
      const first = yield* costs(server, once, 3)
      const again = yield* costs(server, once, 0)
      assert.deepStrictEqual([again.status, again.text], [200, first.text])
      assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
      assert.strictEqual(again.headers.get("content-type"), first.headers.get("content-type"))

      const other = yield* post(server, "/v1/embeddings", { ...embed, input: "three" }, keyed("a"))
      assert.deepStrictEqual([other.status, codeOf(other)], [422, "idempotency_key_reused"])

      const stream = post(server, "/v1/chat/completions", { ...chat, stream: true }, keyed("b"))
      const whole = yield* costs(server, stream, CHAT_INPUT + 1)
      assert.strictEqual((yield* costs(server, stream, 0)).text, whole.text)
      assert.lengthOf(requests(), 2)

      const bad = yield* post(server, "/v1/embeddings", embed, keyed("x".repeat(300)))
      assert.deepStrictEqual([bad.status, codeOf(bad)], [400, "invalid_idempotency_key"])
    }).pipe(Effect.scoped)
  )

  it.live("does not store a cut stream, and does not repeat it if a part was charged", () =>
    Effect.gen(function* () {
      let sent: ReadonlyArray<unknown> = [piece("one")]
      const { requests, server } = yield* startPaidServer((response) => {
        events(response, ...sent)
        setImmediate(() => response.destroy())
      })
      const stream = { ...chat, stream: true }
      const call = (name: string) =>
        post(server, "/v1/chat/completions", stream, { headers: { "idempotency-key": name } })
      assert.include((yield* costs(server, call("part"), CHAT_INPUT + 1)).text, "upstream_broke_off")
      const again = yield* costs(server, call("part"), 0)
      assert.deepStrictEqual([again.status, codeOf(again)], [409, "idempotency_answer_not_kept"])
      assert.lengthOf(requests(), 1)

      sent = [{ error: { message: "overloaded" } }]
      assert.include((yield* costs(server, call("nothing"), 0)).text, "overloaded")
      sent = [piece("one"), "[DONE]"]
      assert.include((yield* costs(server, call("nothing"), CHAT_INPUT + 1)).text, "[DONE]")
    }).pipe(Effect.scoped)
  )

  it.live("is rejected while its call runs, and free again after a failed call", () =>
    Effect.gen(function* () {
      const waiting: Array<() => void> = []
      let status = 200
      const { requests, server } = yield* startPaidServer((response) => {
        if (status !== 200) return json(response, { error: { message: "no" } }, status)
        waiting.push(() => json(response, vectors()))
      })
      const once = post(server, "/v1/embeddings", embed, { headers: { "idempotency-key": "a" } })
      status = 400
      assert.strictEqual((yield* once).status, 400)
      status = 200
      const under = yield* Effect.forkChild(once)
      yield* Effect.repeat(
        Effect.sync(() => waiting.length),
        {
          schedule: Schedule.spaced("5 millis"),
          until: (length) => length > 0
        }
      )
      const meanwhile = yield* once
      assert.deepStrictEqual([meanwhile.status, codeOf(meanwhile)], [409, "idempotency_in_flight"])
      waiting[0]?.()
      assert.strictEqual((yield* Fiber.join(under)).status, 200)
      assert.lengthOf(requests(), 2)
    }).pipe(Effect.scoped)
  )
})
