import { assert, layer } from "@effect/vitest"
import { Context, Deferred, Duration, Effect, Exit, Fiber, Layer, Option, Queue, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { ServerResponse } from "node:http"
import { behaving, reasonOf } from "./Clients.ts"
import { type Behaviour, json, LoopbackGateway, openAi, refuse } from "./LoopbackGateway.ts"
import { KEY, patient, requests, running, tick } from "./tasksClient.ts"
import { Client, film, folder, MAX_RESPONSE_BYTES, sendFilm, videos } from "./videosClient.ts"

layer(Client)("videos that are downloaded", (it) => {
  it.effect("downloads more than `maxResponseBytes`, and leaves no temporary file", () =>
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
      assert.isAbove(film.length, MAX_RESPONSE_BYTES)
      assert.deepStrictEqual(Buffer.from(yield* files.readFile(file)), Buffer.from(film))
      assert.deepStrictEqual(yield* listed, ["film.mp4"])
      const bytes = yield* behaving(sendFilm, Stream.runCollect((yield* videos).content("v-1")))
      assert.deepStrictEqual(Buffer.concat(bytes), Buffer.from(film))
    })
  )

  it.effect("ending the stream early closes the connection", () =>
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
      "and ended like a complete one",
      (_, response) => {
        response.writeHead(200, { "content-type": "video/mp4" })
        response.end(half)
      }
    ],
    [
      "after its first box",
      (_, response) => {
        response.writeHead(200, { "content-type": "video/mp4" })
        response.end(film.subarray(0, 16))
      }
    ],
    [
      "before its film, with a matching length",
      (_, response) => {
        response.writeHead(200, { "content-type": "video/mp4", "content-length": 24 })
        response.end(film.subarray(0, 24))
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
    it.effect(`a video cut off ${name} is downloaded again; otherwise the old file stays`, () =>
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

  it.effect("a download may last longer than any time-out while bytes arrive", () =>
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

  it.effect("a stall ends it after `attemptTimeout`, and it is downloaded again", () =>
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

  it.effect("an interruption closes the connection and removes the temporary file", () =>
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
      /not an MP4/,
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
    ["ServerFailure", /Status 999/, (_, response) => void response.writeHead(999).end()],
    [
      "InvalidResponse",
      /is not a video/,
      (_, response) => {
        response.writeHead(205, { "content-type": "text/plain" }).end("none")
      }
    ],
    [
      "ServerFailure",
      /half a/,
      (_, response) => {
        response.writeHead(503, { "content-type": "text/plain", "content-length": 500 })
        response.write("half a refusal", () => response.destroy())
      }
    ],
    [
      "InvalidResponse",
      /redirects more than .* not http or https/,
      (_, response) => {
        response.writeHead(302, { location: "file:///etc/passwd" }).end()
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
  it.effect("rejects a response that is not a video, and writes no file", () =>
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

  it.effect("follows a redirect to another host without the credential", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* LoopbackGateway
      const other = Context.get(yield* Layer.build(Layer.fresh(LoopbackGateway.layer)), LoopbackGateway)
      const { file } = yield* folder
      const { download } = yield* videos
      const shown = (requests: typeof seen) =>
        requests.map(({ headers, path }) => [path, headers.authorization])
      for (const status of [301, 302, 303, 307, 308]) {
        const leading: Behaviour = ({ path }, response) => {
          const location = path.endsWith("/content") ? "/moved" : `${other.url}/stored.mp4?signature=1`
          response.writeHead(status, { location }).end("elsewhere")
        }
        other.behave(sendFilm)
        const requests = yield* behaving(
          leading,
          Effect.map(download("v-1", file), ({ bytes }) => {
            assert.strictEqual(bytes, film.length)
            return shown(seen)
          })
        )
        assert.deepStrictEqual(requests, [
          ["/v1/videos/v-1/content", `Bearer ${KEY}`],
          ["/moved", `Bearer ${KEY}`]
        ])
        assert.deepStrictEqual(shown(other.seen), [["/stored.mp4?signature=1", undefined]])
      }

      const away = refuse(302, "", { location: `${other.url}/stored.mp4` })
      other.behave(refuse(403, "<Error>Request has expired</Error>"))
      const ended = yield* behaving(away, Effect.flip(download("v-1", file)))
      assert.strictEqual(ended.reason._tag, "NotFound")
      assert.include(ended.message, `${new URL(other.url).host} no longer provides the video`)

      other.behave(refuse(302, "", { location: `${url}/back` }))
      const back = yield* behaving(
        (request, response, nth) => (nth === 0 ? away : sendFilm)(request, response, nth),
        Effect.map(download("v-1", file), () => shown(seen))
      )
      assert.deepStrictEqual(back[1], ["/back", undefined])

      const ring = yield* behaving(
        refuse(302, "", { location: "/again" }),
        Effect.map(reasonOf(download("v-1", file)), ({ _tag }) => [_tag, seen.length])
      )
      assert.deepStrictEqual(ring, ["InvalidResponse", 6])
    })
  )

  it.effect("fails before the request if the path cannot be written", () =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      const { path } = yield* folder
      behave(sendFilm)
      for (const place of [path, `${path}/none/film.mp4`]) {
        const error = yield* Effect.flip((yield* videos).download("v-1", place))
        assert.deepInclude(error.reason, { _tag: "InvalidRequest", param: "path" })
        assert.include(error.message, place)
        assert.match(error.message, /Add a file name|Create it first/)
      }
      assert.deepStrictEqual(yield* requests, [])
    })
  )
})
