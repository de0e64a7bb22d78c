/** Words, ids and bodies of tasks by gateways in use, and paid responses of unknown form. */
import { assert, layer } from "@effect/vitest"
import { Account, Gateway, type GatewayError, type Video } from "@sluice/core"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { behaving, chat, Clients, embedTwo, KEY, reasonOf } from "./Clients.ts"
import { type Behaviour, json, sends, sendsText } from "./LoopbackGateway.ts"

/** A task: the answer to the creation, then these states. */
const task =
  (created: unknown, ...states: ReadonlyArray<unknown>): Behaviour =>
  (seen, response, nth) =>
    json(response, seen.method === "POST" ? created : (states[nth - 1] ?? states.at(-1)))

const wait = { every: "1 millis", deadline: "2 seconds" } as const
const videos = Effect.map(Gateway, (gateway) => gateway.videos)
const images = Effect.map(Gateway, (gateway) => gateway.images)
const film = { model: "v", prompt: "p" }
const generateVideo = TestClock.withLive(Effect.flatMap(videos, ({ generate }) => generate(film, wait)))
const generateImage = TestClock.withLive(
  Effect.flatMap(images, ({ generate }) => generate({ model: "i", prompt: "p" }, wait))
)
layer(Clients)("tasks", (it) => {
  const done = ["succeeded", "SUCCESS", "Completed", "COMPLETED", "succeed", "finished"]
  const ended = ["error", "FAILED", "FAILURE", "cancelled", "canceled", "expired", "Failed"]

  it.effect("end with every word for success", () =>
    Effect.gen(function* () {
      for (const status of done) {
        const states = task(
          { id: "t", status: "submitted" },
          { id: "t", status: "RUNNING" },
          { id: "t", status }
        )
        const video: Video = yield* behaving(states, generateVideo)
        assert.strictEqual(video.status, "completed", status)
        const link = { id: "t", status, data: [{ url: "https://i.example/1.png" }] }
        const { images, status: canonical } = yield* behaving(
          task({ id: "t" }, { id: "t", status: "IN_PROGRESS" }, link),
          generateImage
        )
        assert.deepStrictEqual([images.length, canonical], [1, "completed"], status)
      }
    })
  )

  it.effect("end with every word for failure, which the error repeats", () =>
    Effect.gen(function* () {
      for (const status of ended) {
        for (const generate of [generateVideo, generateImage]) {
          const states = task({ id: "t", status: "queued" }, { id: "t", status })
          const reason = yield* behaving(states, reasonOf<unknown, Gateway>(generate))
          assert.strictEqual(reason._tag, "TaskFailed", status)
          if (!/^failed$/i.test(status)) assert.include(reason.message, status)
        }
      }
    })
  )

  it.effect("end with an error object beside any status but success, which keeps its message", () =>
    Effect.gen(function* () {
      const error = { code: "moderation", message: "Not this." }
      for (const status of ["in_progress", "processing", "", 3]) {
        for (const generate of [generateVideo, generateImage]) {
          const states = task({ id: "t" }, { id: "t", status, error })
          const reason = yield* behaving(states, reasonOf<unknown, Gateway>(generate))
          assert.strictEqual(reason._tag, "TaskFailed", String(status))
          assert.include(reason.message, "Not this.")
        }
      }
    })
  )

  it.effect("have ids of any length, and numeric ones, also beyond exact numbers", () =>
    Effect.gen(function* () {
      const { create, get } = yield* videos
      const long = "t".repeat(3000)
      assert.deepInclude(yield* behaving(sends({ id: long }), get(long)), { id: long })
      const raw = '{"id":1234567890123456789,"status":"queued"}'
      const { id } = yield* behaving(sendsText("application/json", raw), create(film))
      assert.strictEqual(id, "1234567890123456789")
      const image = yield* images
      const made = yield* behaving(
        sends({ id: 42, status: "queued" }),
        image.create({ model: "i", prompt: "p" })
      )
      assert.strictEqual(made.id, "42")
    })
  )

  it.effect("images come as a list, an object or texts, with an empty id", () =>
    Effect.gen(function* () {
      const url = "https://i.example/1.png"
      for (const data of [[{ url }], { url }, [url], url]) {
        const answer = yield* behaving(sends({ id: "", data, created: 1 }), generateImage)
        assert.deepStrictEqual(answer.images, [{ url }], JSON.stringify(data))
      }
      const { images: inline } = yield* behaving(sends({ data: ["aGVsbG8="] }), generateImage)
      assert.deepStrictEqual(inline, [{ base64: "aGVsbG8=" }])
    })
  )
})

layer(Clients)("a paid response that cannot be used", (it) => {
  it.effect("is in the error, unchanged but for the credential", () =>
    Effect.gen(function* () {
      const { create } = yield* videos
      const image = yield* images
      const calls: ReadonlyArray<readonly [string, Effect.Effect<unknown, GatewayError, Gateway>]> = [
        [`{"job":{"ref":"r-1"},"key":"${KEY}"}`, create(film)],
        ['{"job":"r-2"}', image.create({ model: "i", prompt: "p" })],
        ['{"status":"completed","data":[{"path":"/a.png"}]}', generateImage],
        ['{"output":{"text":"paid for"}}', chat],
        ['{"choices":[{"message":{}}],"note":"kept"}', chat],
        ['{"vectors":[[1]]}', embedTwo],
        ["paid, but no JSON", chat]
      ]
      for (const [text, call] of calls) {
        const error = yield* behaving(sendsText("application/json", text), Effect.flip(call))
        assert.strictEqual(error.response, text.replace(KEY, "<redacted>"))
        assert.notInclude(error.message, text)
      }
      const { response } = yield* behaving(
        sends({ x: KEY }),
        Effect.flip(Effect.flatMap(Account, (a) => a.user))
      )
      assert.isUndefined(response)
    })
  )
})
