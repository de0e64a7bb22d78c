import { assert, layer } from "@effect/vitest"
import { type GatewayError, ModelCatalogue, type Video, type VideoCall } from "@sluice/core"
import { Clock, Effect, Exit, Fiber, Logger, Queue, References, Stream } from "effect"
import { TestClock } from "effect/testing"
import { behaving, reasonOf } from "./Clients.ts"
import { type Behaviour, json, LoopbackGateway, openAi, refuse } from "./LoopbackGateway.ts"
import { KEY, requests, running, tick } from "./tasksClient.ts"
import { call, Client, folder, states, videos } from "./videosClient.ts"

layer(Client)("videos", (it) => {
  it.effect("a creation sends its fields without the group, and returns every field", () =>
    Effect.gen(function* () {
      const { seen } = yield* LoopbackGateway
      const answer = {
        id: "v-1",
        status: "queued",
        error: null,
        progress: 0,
        seconds: "8",
        nested: { a: [1] }
      }
      const video = yield* behaving(
        (_, response) => json(response, answer, 202),
        Effect.gen(function* () {
          const video = yield* (yield* videos).create(call)
          const { body, headers, method, path } = seen[0] ?? assert.fail("no request")
          assert.deepStrictEqual(body as unknown, {
            model: "v",
            prompt: "A lock opens",
            seconds: "8",
            size: "1280x720"
          })
          assert.deepStrictEqual([method, path], ["POST", "/v1/videos"])
          assert.strictEqual(headers.authorization, `Bearer ${KEY}`)
          assert.match(headers["content-type"] ?? "", /^application\/json/)
          assert.match(String(headers["idempotency-key"]), /^[0-9a-f-]{36}$/)
          return video
        })
      )
      assert.deepStrictEqual(video, {
        id: "v-1",
        status: "queued",
        extra: { progress: 0, seconds: "8", nested: { a: [1] } }
      } as unknown as Video)
    })
  )

  const untyped = (fields: object) => ({ model: "v", prompt: "p", ...fields }) as VideoCall
  const refused: ReadonlyArray<readonly [call: VideoCall, param: string, message: RegExp]> = [
    [untyped({ group: "V-A", seconds: "5" }), "seconds", /V-A accepts `seconds` 4, 8, 12, not "5"/],
    [untyped({ group: "V-A", seconds: 8 }), "seconds", /not 8\. It must be text/],
    [untyped({ group: "V-B", size: "1280x720" }), "size", /V-B accepts `size` 720p, 1080p, 4k/],
    [untyped({ group: "V-C", size: "4k" }), "size", /720p, 1080p/],
    [untyped({ group: "V-D", seconds: "1" }), "seconds", /2, 3, 4, .* 14, 15/],
    [untyped({ group: "V-D", seconds: "16" }), "seconds", /V-D/],
    [untyped({ group: "V-E", size: "479P" }), "size", /480P to 1080P/],
    [untyped({ group: "V-E", size: "1081P" }), "size", /480P to 1080P/],
    [untyped({ group: "V-F", seconds: "10" }), "seconds", /accepts `seconds` 5,/],
    [untyped({ group: "V-G", size: "16:10" }), "size", /16:9, 9:16, 4:3, 3:4, 1:1, 21:9/],
    [untyped({ group: "V-Z" }), "group", /V-Z is not a group of video models: V-A, .* image-to-video/],
    [untyped({ group: "image-to-video" }), "input_reference", /requires an image/]
  ]
  it.effect("refuses invalid values of a group before sending, and names the valid ones", () =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      behave(states())
      for (const [call, param, message] of refused) {
        const reason = yield* reasonOf((yield* videos).create(call))
        if (reason._tag !== "InvalidRequest") assert.fail(reason._tag)
        assert.strictEqual(reason.param, param)
        assert.match(reason.message, message)
      }
      const loose = yield* reasonOf((yield* videos).create(untyped({ seconds: 5 })))
      assert.match(loose.message, /seconds/)
      assert.deepStrictEqual(yield* requests, [])
    })
  )

  it.effect("validates a call without a group by the catalogue", () =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      behave(states())
      const { create } = yield* videos
      const known = Effect.provide(ModelCatalogue.layer({ "V-C": ["v*"], rerank: ["rr"] }))
      const reason = yield* reasonOf(known(create(untyped({ seconds: "5" }))))
      assert.match(reason.message, /V-C accepts `seconds` 4, 6, 8/)
      assert.deepStrictEqual(yield* requests, [])
      yield* known(create(untyped({ seconds: "6" })))
      yield* known(create(untyped({ model: "rr", seconds: "5" })))
      yield* known(create(untyped({ model: "unknown", seconds: "5" })))
      assert.strictEqual((yield* requests).length, 3)
    })
  )

  it.effect("sends undeclared fields, which cannot replace declared ones", () =>
    Effect.gen(function* () {
      const { behave, seen } = yield* LoopbackGateway
      behave(states())
      const { create } = yield* videos
      yield* create({ model: "v", prompt: "p", seconds: "5", extra: { fps: 24, camera: { move: "pan" } } })
      assert.deepStrictEqual(seen[0]?.body as unknown, {
        model: "v",
        prompt: "p",
        seconds: "5",
        fps: 24,
        camera: { move: "pan" }
      })
      for (const group of [{}, { group: "V-A" }]) {
        const reason = yield* reasonOf(create(untyped({ ...group, extra: { size: "8k" } })))
        assert.deepInclude(reason, { _tag: "InvalidRequest", param: "extra.size" })
      }
      assert.strictEqual((yield* requests).length, 1)
      yield* create({ ...call, extra: { fps: 24 } })
      assert.deepInclude(seen[1]?.body as object, { seconds: "8", fps: 24 })
    })
  )

  it.effect("sends a reference image as given, bytes and files as data URIs, and no GIF", () =>
    Effect.gen(function* () {
      const { seen, behave } = yield* LoopbackGateway
      const { files, path } = yield* folder
      behave(states())
      const base64 =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
      const png = Buffer.from(base64, "base64")
      yield* files.writeFile(`${path}/cat.png`, png)
      const sent = [
        "https://a.example/cat.png",
        base64,
        png,
        { file: `${path}/cat.png` },
        { object: { file_id: "f" } }
      ]
      for (const inputReference of sent) {
        yield* (yield* videos).create({ group: "image-to-video", model: "v", prompt: "p", inputReference })
      }
      const uri = `data:image/png;base64,${base64}`
      assert.deepStrictEqual(
        seen.map(({ body }) => (body as unknown as { input_reference: unknown }).input_reference),
        ["https://a.example/cat.png", base64, uri, uri, { file_id: "f" }]
      )
      for (const inputReference of [Buffer.from("GIF89a??"), { file: `${path}/none.png` }]) {
        const reason = yield* reasonOf(
          (yield* videos).create({ group: "image-to-video", model: "v", prompt: "p", inputReference })
        )
        assert.match(reason.message, /GIF|cannot be read/)
      }
      assert.strictEqual(seen.length, sent.length)
    })
  )

  it.effect("a creation is repeated after 429, never after 5xx or a reset", () =>
    Effect.gen(function* () {
      const { seen } = yield* LoopbackGateway
      const after = (first: Behaviour) =>
        behaving(
          (seen, response, nth) => (nth === 0 ? first(seen, response, nth) : states()(seen, response, nth)),
          running(
            Effect.gen(function* () {
              const exit = yield* Effect.exit((yield* videos).create(call))
              return [Exit.isSuccess(exit), seen.length]
            })
          )
        )
      assert.deepStrictEqual(yield* after(refuse(429, openAi({}))), [true, 2])
      assert.deepStrictEqual(yield* after(refuse(500, openAi({}))), [false, 1])
      assert.deepStrictEqual(yield* after((_, response) => void response.destroy()), [false, 1])
    })
  )

  it.effect("a poll accepts unknown statuses and any id", () =>
    Effect.gen(function* () {
      const video = yield* behaving(
        (_, response) => json(response, { id: "a/b ü", status: "warming_up", error: "none" }),
        Effect.gen(function* () {
          const video = yield* (yield* videos).get("a/b ü")
          assert.deepStrictEqual(yield* requests, ["GET /v1/videos/a%2Fb%20%C3%BC"])
          return video
        })
      )
      assert.deepStrictEqual([video.status, video.error], ["warming_up", "none"])
      const { behave } = yield* LoopbackGateway
      behave(states())
      for (const id of ["", ".", "..", "a\n", "x".repeat(5000)]) {
        const reason = yield* reasonOf((yield* videos).get(id))
        assert.strictEqual(reason._tag, "InvalidRequest")
      }
      assert.deepStrictEqual(yield* requests, [])
      const gone = yield* behaving(refuse(404, openAi({})), Effect.flip((yield* videos).get("v-9")))
      assert.deepStrictEqual([gone.reason._tag, gone.task], ["NotFound", "v-9"])
    })
  )

  it.effect("generates a video: the id at once, a poll every 15 seconds, the end", () =>
    Effect.gen(function* () {
      const { behave, seen } = yield* LoopbackGateway
      behave(states({ status: "in_progress", progress: 40 }, { status: "completed", progress: 100 }))
      const shown = yield* Queue.unbounded<Video>()
      const fiber = yield* Stream.runForEach((yield* videos).progress(call), (video) =>
        Queue.offer(shown, video)
      ).pipe(Effect.forkChild)
      assert.deepInclude(yield* Queue.take(shown), { id: "v-1", status: "queued" })
      assert.strictEqual(seen.length, 1)
      yield* TestClock.adjust("14 seconds")
      assert.strictEqual(seen.length, 1)
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Queue.take(shown), { status: "in_progress", extra: { progress: 40 } })
      yield* TestClock.adjust("15 seconds")
      assert.deepInclude(yield* Queue.take(shown), { status: "completed" })
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(yield* requests, ["POST /v1/videos", "GET /v1/videos/v-1", "GET /v1/videos/v-1"])
      const made = yield* behaving(
        states({ status: "completed", url: "u" }),
        running(Effect.flatMap(videos, ({ generate }) => generate(call, { every: "5 seconds" })))
      )
      assert.deepInclude(made, { id: "v-1", status: "completed", extra: { url: "u" } })
    })
  )

  it.effect("resumes an existing task with a poll at once", () =>
    Effect.gen(function* () {
      const video = yield* behaving(
        states({ status: "in_progress" }, { status: "completed" }),
        Effect.gen(function* () {
          const video = yield* running((yield* videos).resume("v-1", { every: "10 seconds" }))
          assert.deepStrictEqual([...new Set(yield* requests)], ["GET /v1/videos/v-1"])
          return video
        })
      )
      assert.strictEqual(video.status, "completed")
    })
  )

  it.effect("a failed task is TaskFailed with its error", () =>
    Effect.gen(function* () {
      const error = { code: "moderation_blocked", message: "Not that." }
      const reason = yield* behaving(
        states({ status: "failed", error }),
        running(reasonOf((yield* videos).generate(call)))
      )
      if (reason._tag !== "TaskFailed") assert.fail(reason._tag)
      assert.deepStrictEqual([reason.task, reason.error], ["v-1", error])
      const notExecuted = yield* behaving(
        (_, response) => json(response, { status: "failed", error }),
        running(reasonOf((yield* videos).generate(call)))
      )
      if (notExecuted._tag !== "TaskFailed") assert.fail(notExecuted._tag)
      assert.deepStrictEqual(
        [notExecuted.task, notExecuted.error, notExecuted.isRetryable],
        ["", error, false]
      )
      const formless = yield* behaving(
        (_, response) => json(response, { status: "queued" }),
        running(reasonOf((yield* videos).create(call)))
      )
      assert.match(formless.message, /not match the contract.*id/)
      for (const code of ["content_policy_violation", "content_filter"]) {
        const refused = yield* behaving(
          (_, response) => json(response, { error: { message: "no", code } }),
          running(reasonOf((yield* videos).create(call)))
        )
        assert.strictEqual(refused._tag, "ContentFiltered", code)
      }
    })
  )

  it.effect("a failed poll is retried like a read; the final error names the task", () =>
    Effect.gen(function* () {
      const down = refuse(503, openAi({}))
      const made = yield* behaving(
        states(down, (_, response) => void response.destroy(), { status: "completed" }),
        running((yield* videos).generate(call))
      )
      assert.strictEqual(made.status, "completed")
      const error = yield* behaving(
        states({ status: "in_progress" }, down),
        running(Effect.flip((yield* videos).generate(call)))
      )
      assert.deepStrictEqual([error.reason._tag, error.task], ["ServerFailure", "v-1"])
      assert.match(error.message, /The task goes on at the gateway: resume it by its id, v-1\.$/)
    })
  )

  it.effect("has a deadline, and leaves the task running", () =>
    Effect.gen(function* () {
      const error = yield* behaving(
        states({ status: "in_progress" }),
        Effect.gen(function* () {
          const wait = (yield* videos).generate(call, { deadline: "2 minutes" })
          const error = yield* running(Effect.flip(wait))
          assert.isFalse((yield* requests).some((request) => request.startsWith("DELETE")))
          return error
        })
      )
      assert.strictEqual(error.reason._tag, "TimedOut")
      assert.match(error.message, /within 2m.*v-1/)
    })
  )

  it.effect("the deadline starts with the creation and ends it", () =>
    Effect.gen(function* () {
      const { behave, seen } = yield* LoopbackGateway
      const wait = (yield* videos).generate(call, { deadline: "1 minute" })
      const silent = yield* behaving(() => undefined, running(Effect.flip(wait)))
      assert.deepStrictEqual([silent.reason._tag, silent.operation], ["TimedOut", "videos.generate"])
      assert.match(silent.message, /within 1m.*may have been executed and charged/)
      assert.isTrue(silent.outcomeUnknown)
      let created: () => void = () => undefined
      behave(({ method }, response) => {
        if (method === "GET") return json(response, { id: "v-1", status: "queued" })
        created = () => json(response, { id: "v-1" })
      })
      const begun = yield* Clock.currentTimeMillis
      const fiber = yield* Effect.forkChild(Effect.flip(wait))
      while (seen.length === 0) yield* tick
      yield* TestClock.adjust("40 seconds")
      created()
      const error = yield* running(Fiber.join(fiber))
      assert.deepStrictEqual([error.reason._tag, error.task], ["TimedOut", "v-1"])
      const whole = (yield* Clock.currentTimeMillis) - begun
      assert.isTrue(whole >= 60_000 && whole < 65_000, `${whole}`)
    })
  )

  it.effect("an interruption leaves the task running, and logs its id", () =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      behave(states({ status: "in_progress" }))
      const logged: Array<unknown> = []
      const logger = Logger.make(({ fiber }) => {
        logged.push(fiber.getRef(References.CurrentLogAnnotations)["task"])
      })
      const seen = yield* Queue.unbounded<Video>()
      const fiber = yield* Stream.runForEach((yield* videos).progress(call), (video) =>
        Queue.offer(seen, video)
      ).pipe(Effect.provide(Logger.layer([logger])), Effect.forkChild)
      yield* Queue.take(seen)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(logged, ["v-1"])
      assert.deepStrictEqual(yield* requests, ["POST /v1/videos"])
    })
  )

  it.effect("a removal accepts any successful response except a refusal in it", () =>
    Effect.gen(function* () {
      const answers: ReadonlyArray<
        readonly [body: string, status: number, tag?: GatewayError["reason"]["_tag"]]
      > = [
        ["", 204],
        ["", 200],
        ["OK", 200],
        ["<p>gone</p>", 200],
        ["null", 200],
        ['{"id":"v-1","object":"video.deleted","deleted":true}', 200],
        ['{"success":true,"message":""}', 200],
        ['{"message":"deleted","error":null}', 200],
        ['{"success":false,"message":"not yours"}', 200, "ServerFailure"],
        ['{"error":{"message":"no","code":"permission_error"}}', 200, "Forbidden"],
        ['{"error":{"message":"no"}}', 404, "NotFound"]
      ]
      for (const [body, status, tag] of answers) {
        const error = yield* behaving(
          (_, response) => void response.writeHead(status).end(status === 204 ? undefined : body),
          Effect.gen(function* () {
            const removal = Effect.flip((yield* videos).remove("v-1"))
            const error = yield* running(Effect.orElseSucceed(removal, () => undefined))
            assert.strictEqual((yield* requests)[0], "DELETE /v1/videos/v-1")
            return error
          })
        )
        assert.strictEqual(error?.reason._tag, tag, body)
      }
    })
  )

  it.effect("succeeds if an earlier attempt removed it", () =>
    behaving(
      (_, response, nth) =>
        nth === 0 ? response.destroy() : refuse(404, { error: { message: "no" } })(_, response, nth),
      Effect.gen(function* () {
        yield* running((yield* videos).remove("v-1"))
        assert.lengthOf(yield* requests, 2)
      })
    )
  )
})
