import { NodeFileSystem } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { apiKey, Gateway, type GatewayError, type Video, type VideoCall } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import {
  Deferred,
  Duration,
  Effect,
  Exit,
  Fiber,
  FileSystem,
  Layer,
  Logger,
  Option,
  Queue,
  References,
  Stream
} from "effect"
import { TestClock } from "effect/testing"
import type { ServerResponse } from "node:http"
import { behaving, reasonOf } from "./Clients.ts"
import { type Behaviour, json, LoopbackGateway, openAi, refuse } from "./LoopbackGateway.ts"
import { mp4 } from "./videosHandlers.ts"

const KEY = "sk-canary-5f2e"

/** Hours, so that a machine that is slow for a while is not out of time on the test's clock. */
const patient = { attemptTimeout: "2 hours", callTimeout: "9 hours", maxResponseBytes: 2000 } as const

const Client = Layer.unwrap(
  Effect.map(LoopbackGateway, ({ url }) =>
    GatewayClient.layer({ baseUrl: url, apiKey: apiKey(KEY), ...patient })
  )
).pipe(Layer.provideMerge(LoopbackGateway.layer), Layer.provideMerge(NodeFileSystem.layer))

const tick = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

/** Lets the test's clock run, a second for each turn of the event loop, until an effect has ended. */
const running = Effect.fn(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const fiber = yield* Effect.forkChild(effect)
  while (fiber.pollUnsafe() === undefined) {
    yield* tick
    yield* TestClock.adjust("1 second")
  }
  return yield* Fiber.join(fiber)
})

const videos = Effect.map(Gateway, (gateway) => gateway.videos)
const call: VideoCall = { group: "V-A", model: "v", prompt: "A lock opens", seconds: "8", size: "1280x720" }

/** Answers a creation with `queued`, then a look with each of these, the last one for ever. */
const states =
  (...looks: ReadonlyArray<object | Behaviour>): Behaviour =>
  (seen, response, nth) => {
    if (seen.method === "POST") return json(response, { id: "v-1", status: "queued" })
    const look = looks[Math.min(nth - 1, looks.length - 1)] ?? {}
    return typeof look === "function" ? look(seen, response, nth) : json(response, { id: "v-1", ...look })
  }

const requests = Effect.map(LoopbackGateway, ({ seen }) =>
  seen.map(({ method, path }) => `${method} ${path}`)
)

const film = mp4(4000)

const sendFilm: Behaviour = (_, response) => {
  response.writeHead(200, { "content-type": "video/mp4", "content-length": film.length })
  response.end(film)
}

/** A folder of the test's own, and what lies in it. */
const folder = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const path = yield* files.makeTempDirectoryScoped({ prefix: "sluice-videos-" })
  return { path, file: `${path}/film.mp4`, listed: files.readDirectory(path), files }
})

layer(Client)("videos", (it) => {
  it.effect("a creation sends what it was given, the group left out, and gives back every field", () =>
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
    [untyped({ group: "V-A", seconds: "5" }), "seconds", /V-A takes `seconds` 4, 8, 12, not "5"/],
    [untyped({ group: "V-A", seconds: 8 }), "seconds", /not 8\. It is text, never a number/],
    [untyped({ group: "V-B", size: "1280x720" }), "size", /V-B takes `size` 720p, 1080p, 4k/],
    [untyped({ group: "V-C", size: "4k" }), "size", /720p, 1080p/],
    [untyped({ group: "V-D", seconds: "1" }), "seconds", /2, 3, 4, .* 14, 15/],
    [untyped({ group: "V-D", seconds: "16" }), "seconds", /V-D/],
    [untyped({ group: "V-E", size: "479P" }), "size", /480P to 1080P/],
    [untyped({ group: "V-E", size: "1081P" }), "size", /480P to 1080P/],
    [untyped({ group: "V-F", seconds: "10" }), "seconds", /takes `seconds` 5,/],
    [untyped({ group: "V-G", size: "16:10" }), "size", /16:9, 9:16, 4:3, 3:4, 1:1, 21:9/],
    [untyped({ group: "V-Z" }), "group", /no group V-Z .* V-A, .* image-to-video/],
    [untyped({ group: "image-to-video" }), "input_reference", /wants an image/]
  ]
  it.effect("what a group does not take is refused unsent, with what it does", () =>
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

  it.effect("a reference image goes as it was given, bytes and files as data URIs; no GIF goes", () =>
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

  it.effect("a creation is made again after 429, never after 5xx or a reset", () =>
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

  it.effect("a look tolerates statuses that nobody knows, and any identifier", () =>
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
      for (const id of ["", ".", "..", "a\n", "x".repeat(600)]) {
        const reason = yield* reasonOf((yield* videos).get(id))
        assert.strictEqual(reason._tag, "InvalidRequest")
      }
      assert.deepStrictEqual(yield* requests, [])
      const gone = yield* behaving(refuse(404, openAi({})), Effect.flip((yield* videos).get("v-9")))
      assert.deepStrictEqual([gone.reason._tag, gone.task], ["NotFound", "v-9"])
    })
  )

  it.effect("makes a video: the id at once, a look every 15 seconds, the end", () =>
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

  it.effect("takes up a task that was made before, and looks at once", () =>
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

  it.effect("a task that failed is TaskFailed with what it said", () =>
    Effect.gen(function* () {
      const error = { code: "moderation_blocked", message: "Not that." }
      const reason = yield* behaving(
        states({ status: "failed", error }),
        running(reasonOf((yield* videos).generate(call)))
      )
      if (reason._tag !== "TaskFailed") assert.fail(reason._tag)
      assert.deepStrictEqual([reason.task, reason.error], ["v-1", error])
    })
  )

  it.effect(
    "a look that fails is retried like a read; when it goes on failing, the error names the task",
    () =>
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
      })
  )

  it.effect("has a deadline for the whole, and leaves the task", () =>
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

  it.effect("an interruption leaves the task, and reports its id", () =>
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

  it.effect(
    "downloads more than the limit of other answers, with the credential, and leaves nothing beside it",
    () =>
      Effect.gen(function* () {
        const { seen } = yield* LoopbackGateway
        const { file, files, listed } = yield* folder
        const written = yield* behaving(
          sendFilm,
          Effect.gen(function* () {
            const written = yield* (yield* videos).download("v-1", file)
            assert.deepStrictEqual(yield* requests, ["GET /v1/videos/v-1/content"])
            assert.strictEqual(seen[0]?.headers.authorization, `Bearer ${KEY}`)
            return written
          })
        )
        assert.deepStrictEqual(written, { path: file, bytes: film.length })
        assert.isAbove(film.length, patient.maxResponseBytes)
        assert.deepStrictEqual(Buffer.from(yield* files.readFile(file)), Buffer.from(film))
        assert.deepStrictEqual(yield* listed, ["film.mp4"])
        const bytes = yield* behaving(sendFilm, Stream.runCollect((yield* videos).content("v-1")))
        assert.deepStrictEqual(Buffer.concat(bytes), Buffer.from(film))
      })
  )

  it.effect("whoever has seen enough of the bytes closes the connection", () =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      const closed = yield* Deferred.make<void>()
      behave((_, response) => {
        response.on("close", () => Deferred.doneUnsafe(closed, Exit.void))
        response.writeHead(200, { "content-type": "video/mp4" }).write(film)
      })
      const { content } = yield* videos
      assert.isTrue(Option.isSome(yield* Stream.runHead(content("v-1"))))
      yield* Deferred.await(closed)
    })
  )

  const half = film.subarray(0, 3000)
  const cuts: ReadonlyArray<readonly [name: string, behaviour: Behaviour]> = [
    [
      "by its length",
      (_, response) => {
        response.writeHead(200, { "content-type": "video/mp4", "content-length": film.length })
        response.write(half, () => response.destroy())
      }
    ],
    [
      "in a chunk",
      (_, response) => {
        response.writeHead(200, { "content-type": "video/mp4" })
        response.write(half, () => response.destroy())
      }
    ],
    [
      "and ended as if it were whole",
      (_, response) => {
        response.writeHead(200, { "content-type": "video/mp4" })
        response.end(half)
      }
    ],
    [
      "in a header",
      (_, response) => {
        response.writeHead(200, { "content-type": "video/mp4" })
        response.end(film.subarray(0, 20))
      }
    ],
    [
      "before its first byte",
      (_, response) => {
        response.writeHead(200, { "content-type": "video/mp4" })
        response.end()
      }
    ]
  ]
  for (const [name, cut] of cuts) {
    it.effect(`a video cut off ${name} is fetched again; else what was there before stays`, () =>
      Effect.gen(function* () {
        const { seen } = yield* LoopbackGateway
        const { file, files, listed } = yield* folder
        const download = (yield* videos).download("v-1", file)
        const written = yield* behaving(
          (request, response, nth) => (nth === 0 ? cut : sendFilm)(request, response, nth),
          Effect.tap(running(download), () => Effect.sync(() => assert.strictEqual(seen.length, 2)))
        )
        assert.strictEqual(written.bytes, film.length)
        yield* files.writeFileString(file, "before")
        const attempts = yield* behaving(
          cut,
          Effect.gen(function* () {
            const reason = yield* running(reasonOf(download))
            assert.deepStrictEqual([reason._tag, reason.isRetryable], ["Unreachable", true])
            return seen.length
          })
        )
        assert.strictEqual(attempts, 4)
        assert.deepStrictEqual([yield* files.readFileString(file), yield* listed], ["before", ["film.mp4"]])
        const streamed = yield* behaving(cut, reasonOf(Stream.runDrain((yield* videos).content("v-1"))))
        assert.strictEqual(streamed._tag, "Unreachable")
      })
    )
  }

  /** A download that has begun, and the answer that it waits for. */
  const begun = Effect.fn(function* (file: string) {
    const { behave } = yield* LoopbackGateway
    const answers = yield* Queue.unbounded<ServerResponse>()
    behave((_, response) => {
      response.writeHead(200, { "content-type": "video/mp4", "content-length": film.length })
      response.write(film.subarray(0, 10))
      Queue.offerUnsafe(answers, response)
    })
    const { files } = yield* folder
    const fiber = yield* Effect.forkChild(Effect.result((yield* videos).download("v-1", file)))
    const response = yield* Queue.take(answers)
    /** Until so many bytes are in the file beside it. */
    const arrived = (bytes: number) =>
      Effect.gen(function* () {
        const parent = file.slice(0, file.lastIndexOf("/"))
        for (;;) {
          const [part] = yield* files.readDirectory(parent)
          if (part !== undefined && (yield* files.stat(`${parent}/${part}`)).size >= bytes) return
          yield* tick
        }
      }).pipe(Effect.orDie)
    return { fiber, response, arrived }
  })

  it.effect("a download may last longer than any time-out, as long as it is not silent", () =>
    Effect.gen(function* () {
      const { file } = yield* folder
      const { arrived, fiber, response } = yield* begun(file)
      for (let at = 10; at < film.length; at += 1000) {
        yield* arrived(at)
        yield* TestClock.adjust("110 minutes")
        response.write(film.subarray(at, at + 1000))
      }
      response.end()
      const { _tag } = yield* Fiber.join(fiber)
      assert.strictEqual(_tag, "Success")
      assert.isAbove(5 * 110, Duration.toMinutes(Duration.fromInputUnsafe(patient.callTimeout)))
    })
  )

  it.effect("silence ends it, within the time-out of an attempt, and it is fetched again", () =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      const { file, listed } = yield* folder
      const { arrived, fiber } = yield* begun(file)
      yield* arrived(10)
      behave(sendFilm)
      yield* TestClock.adjust("2 hours")
      const result = yield* running(Fiber.join(fiber))
      assert.strictEqual(result._tag, "Success")
      assert.deepStrictEqual(yield* listed, ["film.mp4"])
      behave((_, response) => void response.writeHead(200, { "content-type": "video/mp4" }).write("\0"))
      const reason = yield* running(reasonOf(Stream.runDrain((yield* videos).content("v-1"))))
      assert.deepInclude(reason, { _tag: "TimedOut", scope: "attempt" })
    })
  )

  it.effect("an interruption closes the connection and takes the half file away", () =>
    Effect.gen(function* () {
      const { file, listed } = yield* folder
      const { arrived, fiber, response } = yield* begun(file)
      const closed = new Promise((resolve) => response.on("close", resolve))
      yield* arrived(10)
      yield* Fiber.interrupt(fiber)
      yield* Effect.promise(() => closed)
      assert.deepStrictEqual(yield* listed, [])
    })
  )

  const instead: ReadonlyArray<readonly [tag: string, message: RegExp, behaviour: Behaviour]> = [
    [
      "InvalidResponse",
      /text\/html.*<html>/,
      (_, response) => {
        response.writeHead(200, { "content-type": "text/html" }).end("<html>no</html>")
      }
    ],
    [
      "RateLimited",
      /slow down/,
      (_, response) => json(response, { error: { message: "slow down", code: 429 } })
    ],
    [
      "InvalidResponse",
      /no MP4/,
      (_, response) => {
        response.writeHead(200, { "content-type": "video/mp4" }).end("<html>no</html>")
      }
    ],
    [
      "InvalidResponse",
      /compressed/,
      (_, response) => {
        response.writeHead(200, { "content-type": "video/mp4", "content-encoding": "gzip" }).end("x")
      }
    ],
    ["NotFound", /no/, refuse(404, openAi({}))],
    [
      "InvalidRequest",
      /Redirects are not followed/,
      (_, response) => {
        response.writeHead(302, { location: "http://127.0.0.1:9/" }).end()
      }
    ],
    [
      "InvalidRequest",
      /x{80}/,
      (_, response) => {
        response.writeHead(400, { "content-type": "text/plain" })
        const more = (): void => {
          while (!response.destroyed && response.write("x".repeat(9000)));
          if (!response.destroyed) response.once("drain", more)
        }
        more()
      }
    ]
  ]
  it.effect("what is no video is told apart, however long it is, and no file is made of it", () =>
    Effect.gen(function* () {
      const { file, listed } = yield* folder
      for (const [tag, message, behaviour] of instead) {
        const reason = yield* behaving(behaviour, running(reasonOf((yield* videos).download("v-1", file))))
        assert.strictEqual(reason._tag, tag, reason.message)
        assert.match(reason.message, message)
      }
      assert.deepStrictEqual(yield* listed, [])
    })
  )

  it.effect("a place that cannot be written is refused before a byte is asked for", () =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      const { path } = yield* folder
      behave(sendFilm)
      for (const place of [path, `${path}/none/film.mp4`]) {
        const error = yield* Effect.flip((yield* videos).download("v-1", place))
        assert.deepInclude(error.reason, { _tag: "InvalidRequest", param: "path" })
        assert.include(error.message, place)
      }
      assert.deepStrictEqual(yield* requests, [])
    })
  )

  it.effect("a removal takes any answer of success, but for a refusal in it", () =>
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
})
