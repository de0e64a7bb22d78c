import { assert, describe, layer } from "@effect/vitest"
import { apiKey, Gateway, type GatewayError, type GatewayReason } from "@sluice/core"
import { RETRY, GatewayClient } from "@sluice/core/client"
import { Context, Effect, Exit, Layer, Stream } from "effect"
import { runWithClock } from "./runWithClock.ts"
import { behaving, chat, chatStream, embedTwo, KEY, rerankThree } from "./Clients.ts"
import {
  bomb,
  cut,
  ENCODINGS,
  endless,
  hangUp,
  nested,
  raw,
  redirect,
  silent,
  stalled
} from "./HostileGateway.ts"
import {
  type Behaviour,
  json,
  LoopbackGateway,
  model,
  openAi,
  refuse,
  scores,
  vectors
} from "./LoopbackGateway.ts"
import { mp4 } from "./videosHandlers.ts"

const CONNECTIONS = 2
const ATTEMPT_SECONDS = 10
const CALL_SECONDS = 60
const ALL = 1 + RETRY.times

/** Another host, to which nobody was told to go. */
class Elsewhere extends Context.Service<Elsewhere, LoopbackGateway["Service"]>()("test/core/Elsewhere") {
  static readonly layer = Layer.effect(Elsewhere, LoopbackGateway).pipe(Layer.provide(LoopbackGateway.layer))
}

const client = (url: string) =>
  GatewayClient.layer({
    baseUrl: url,
    apiKey: apiKey(KEY),
    connections: CONNECTIONS,
    maxResponseBytes: 1_000_000,
    attemptTimeout: `${ATTEMPT_SECONDS} seconds`,
    callTimeout: `${CALL_SECONDS} seconds`
  })

const Hostile = Layer.unwrap(Effect.map(LoopbackGateway, ({ url }) => client(url))).pipe(
  Layer.provideMerge(Layer.fresh(LoopbackGateway.layer)),
  Layer.provideMerge(Layer.fresh(Elsewhere.layer))
)

type Call = Effect.Effect<unknown, GatewayError, Gateway>

interface Wrong {
  readonly name: string
  readonly behaviour: Behaviour
  readonly call?: Call
  readonly tag: GatewayReason["_tag"]
  readonly attempts: number
  /** Pools that have connections: one, and that of downloads from the first one on. */
  readonly pools: number
}

const wrong = (
  name: string,
  behaviour: Behaviour,
  tag: GatewayReason["_tag"],
  attempts: number,
  call?: Call,
  pools = 1
): Wrong => ({ name, behaviour, tag, attempts, pools, ...(call && { call }) })

const watch = Gateway.use(({ videos }) => Stream.runDrain(videos.content("v-1")))
/** An MP4 that says how long it is, and ends in the middle. */
const cutFilm =
  (how: "destroy" | "end"): Behaviour =>
  (_, response) => {
    const film = mp4(4000)
    response.writeHead(200, {
      "content-type": "video/mp4",
      ...(how === "destroy" && { "content-length": film.length })
    })
    if (how === "end") response.end(film.subarray(0, 2000))
    else response.write(film.subarray(0, 2000), () => response.destroy())
  }

/** Each ends in its reason, after its attempts, in time, and the client's connections serve on. */
const wrongs: ReadonlyArray<Wrong> = [
  wrong("a reset in place of an answer", hangUp("resetAndDestroy"), "Unreachable", ALL),
  wrong("an end in place of an answer", hangUp("destroy"), "Unreachable", ALL),
  wrong("a reset in mid-body", cut("resetAndDestroy"), "Unreachable", ALL),
  wrong("an end in mid-body", cut("destroy"), "Unreachable", ALL),
  wrong("silence", silent, "TimedOut", 1),
  wrong("a body that stalls", stalled(200), "TimedOut", 1),
  wrong("a refusal that stalls", stalled(503), "TimedOut", 1),
  wrong("one byte after the other, for ever", endless(200, " ", true), "TimedOut", 1),
  wrong("a body without end", endless(200, " ".repeat(65_536), false), "InvalidResponse", 1),
  wrong("a refusal without end", endless(503, " ".repeat(65_536), false), "ServerFailure", ALL),
  wrong("JSON cut short", (_, response) => json(response, '{"choices":[{"mess'), "InvalidResponse", 1),
  wrong("HTML with 200", refuse(200, "<html>", { "content-type": "text/html" }), "InvalidResponse", 1),
  wrong("an answer without content", (_, response) => response.writeHead(204).end(), "InvalidResponse", 1),
  wrong("an empty 429", (_, response) => response.writeHead(429).end(), "RateLimited", ALL),
  wrong("Retry-After of 1e9 s", refuse(429, "", { "retry-after": "1000000000" }), "RateLimited", 1),
  wrong("Retry-After of 1e9, written so", refuse(429, "", { "retry-after": "1e9" }), "RateLimited", ALL),
  wrong(
    "Retry-After of a date far ahead",
    refuse(503, "", { "retry-after": "Fri, 01 Jan 2100 00:00:00 GMT" }),
    "ServerFailure",
    1
  ),
  wrong(
    "Retry-After of a date that has passed",
    refuse(503, "", { "retry-after": "Thu, 01 Jan 1960 00:00:00 GMT" }),
    "ServerFailure",
    ALL
  ),
  wrong("two vectors of one index", vectors([1, [1]], [1, [1]]), "InvalidResponse", 1, embedTwo),
  wrong("an index out of range", vectors([0, [1]], [7, [1]]), "InvalidResponse", 1, embedTwo),
  wrong("NaN in base64", vectors([0, "AADAfw=="], [1, "AACAPw=="]), "InvalidResponse", 1, embedTwo),
  wrong("vectors of two dimensions", vectors([0, [1, 2]], [1, [1]]), "InvalidResponse", 1, embedTwo),
  wrong("base64 of an odd length", vectors([0, "AACAP"], [1, "AACAP"]), "InvalidResponse", 1, embedTwo),
  wrong("a score of no document", scores([0, 1], [1, 1], [9, 1]), "InvalidResponse", 1, rerankThree()),
  wrong("objects in objects, 100,000 of them", refuse(200, nested(100_000)), "InvalidResponse", 1),
  wrong("the same in a refusal", refuse(400, `{"error":${nested(100_000)}}`), "InvalidRequest", 1),
  wrong(
    "escapes of a terminal in a page",
    refuse(502, "<p>\u001b[2J\u0007gone", { "content-type": "text/html" }),
    "ServerFailure",
    ALL
  ),
  wrong(
    "a task that failed, 100,000 levels deep",
    refuse(200, `{"id":"v-1","status":"failed","error":${nested(100_000)}}`),
    "TaskFailed",
    1,
    Gateway.use(({ videos }) => videos.resume("v-1"))
  ),
  wrong("no HTTP", raw("SSH-2.0-OpenSSH_9.9", ""), "InvalidResponse", 1),
  wrong("a head without end", endless(200, "x", true, { "x-a": "a".repeat(200_000) }), "InvalidResponse", 1),
  wrong(
    "two lengths",
    raw("HTTP/1.1 200 OK", "content-length: 2", "content-length: 3", "", "{}"),
    "Unreachable",
    ALL
  ),
  wrong(
    "a length beside chunks",
    raw("HTTP/1.1 200 OK", "content-length: 2", "transfer-encoding: chunked", "", "{}"),
    "Unreachable",
    ALL
  ),
  wrong(
    "a chunk of no length",
    raw("HTTP/1.1 200 OK", "transfer-encoding: chunked", "", "zz", "{}"),
    "InvalidResponse",
    1
  ),
  wrong("a broken stream before its head", hangUp("resetAndDestroy"), "Unreachable", ALL, chatStream),
  wrong("HTML in place of a stream", refuse(200, "<html>"), "InvalidResponse", 1, chatStream),
  wrong(
    "a stream that is cut",
    (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(": hello\n\n", () => response.socket?.resetAndDestroy())
    },
    "Unreachable",
    1,
    chatStream
  ),
  ...ENCODINGS.flatMap((encoding) => [
    wrong(`a bomb of ${encoding}`, bomb(200, encoding), "InvalidResponse", 1),
    wrong(`a bomb of ${encoding} in a refusal`, bomb(500, encoding), "ServerFailure", ALL)
  ]),
  // From here on there are connections for downloads.
  wrong("a film that is cut", cutFilm("destroy"), "Unreachable", 1, watch, 2),
  wrong("a film cut as if it were whole", cutFilm("end"), "Unreachable", 1, watch, 2),
  wrong("silence in place of a film", silent, "TimedOut", ALL, watch, 2),
  wrong("a page in place of a film", refuse(200, "<html>"), "InvalidResponse", 1, watch, 2),
  wrong("a bomb in place of a film", bomb(200, "gzip"), "InvalidResponse", 1, watch, 2),
  wrong(
    "a film behind a redirect loop",
    redirect(302, "/v1/videos/v-1/content"),
    "InvalidResponse",
    6,
    watch,
    2
  )
]

layer(Hostile)("a hostile gateway", (it) => {
  describe("fails in time with the right reason and keeps its connections:", () => {
    for (const { attempts, behaviour, call = chat, name, pools, tag } of wrongs) {
      it.effect(name, () =>
        Effect.gen(function* () {
          const { connections, seen } = yield* LoopbackGateway
          const run = Effect.map(runWithClock(call), (end) => ({ ...end, made: seen.length }))
          const { exit, made, seconds } = yield* behaving(behaviour, run)
          assert.isTrue(Exit.isFailure(exit))
          const error = yield* Effect.flip(exit)
          assert.deepStrictEqual([error.reason._tag, made], [tag, attempts], error.message)
          assert.isAtMost(seconds, tag === "TimedOut" ? CALL_SECONDS : ATTEMPT_SECONDS)
          assert.isAtMost(connections(), pools * CONNECTIONS)
          assert.notInclude(error.message, KEY.slice(0, 9))
          assert.isAtMost(error.message.length, 800)
          assert.notMatch(error.message, /\p{Cc}/u)
          const after = yield* Effect.all(
            Array.from({ length: CONNECTIONS + 1 }, () => rerankThree()),
            { concurrency: "unbounded" }
          )
          assert.strictEqual(after.length, CONNECTIONS + 1)
        })
      )
    }
  })

  it.effect("that recovers is retried: 500, then success", () =>
    Effect.gen(function* () {
      const { seen } = yield* LoopbackGateway
      const flaky: Behaviour = (entry, response, nth) =>
        nth === 0 ? json(response, openAi({}), 500) : model(entry, response, nth)
      const { exit, made } = yield* behaving(
        flaky,
        Effect.map(runWithClock(rerankThree()), (end) => ({ ...end, made: seen.length }))
      )
      assert.deepStrictEqual([Exit.isSuccess(exit), made], [true, 2])
    })
  )

  it.effect("that adds a field with 50,000 levels is read", () =>
    Effect.gen(function* () {
      const deep = `{"x":${nested(50_000)},"choices":[{"x":${nested(50_000)},"message":{"content":"hi"}}]}`
      const { exit } = yield* behaving(refuse(200, deep), runWithClock(chat))
      assert.isTrue(Exit.isSuccess(exit) && exit.value.text === "hi", String(exit))
    })
  )

  it.effect("that redirects is not followed, and the credential is not sent on", () =>
    Effect.gen(function* () {
      const { seen } = yield* LoopbackGateway
      const elsewhere = yield* Elsewhere
      for (const status of [301, 302, 303, 307, 308]) {
        for (const location of [
          `${elsewhere.url}/v1/chat/completions`,
          `//${new URL(elsewhere.url).host}/`
        ]) {
          const { exit, made } = yield* behaving(
            redirect(status, location),
            Effect.map(runWithClock(chat), (end) => ({ ...end, made: seen.length }))
          )
          const error = yield* Effect.flip(exit)
          assert.deepStrictEqual([error.reason._tag, made], ["InvalidRequest", 1])
          assert.include(error.message, "Redirects are not followed")
        }
      }
      assert.deepStrictEqual([elsewhere.seen.length, elsewhere.connections()], [0, 0])
    })
  )

  it.effect("keeps no connection of a closed client", () =>
    Effect.gen(function* () {
      const { connections, url } = yield* Effect.provide(LoopbackGateway, Layer.fresh(LoopbackGateway.layer))
      yield* runWithClock(Effect.provide(rerankThree(), client(url)))
      yield* runWithClock(
        Effect.suspend(() => (connections() === 0 ? Effect.void : Effect.never)).pipe(
          Effect.timeoutOrElse({ duration: "1 second", orElse: () => Effect.void })
        )
      )
      assert.strictEqual(connections(), 0)
    })
  )
})
