/** What a gateway can do to its clients, one wrong at a time, and a clock that goes on only while they are idle. */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { Clock, Effect, type Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { type Behaviour, json } from "./LoopbackGateway.ts"

const JSON_TYPE = { "content-type": "application/json" }

/** The first bytes of a good answer; the rest does not come. */
const BEGINNING = '{"choices":[{"message":{"content":"he'

/** Cuts the connection after these bytes of the body: a reset, or an end before its time. */
export const cut =
  (how: "destroy" | "resetAndDestroy", bytes = BEGINNING): Behaviour =>
  (_, response) => {
    response.writeHead(200, { ...JSON_TYPE, "content-length": 5000 })
    response.write(bytes, () => response.socket?.[how]())
  }

/** Closes the connection in place of an answer. */
export const hangUp =
  (how: "destroy" | "resetAndDestroy"): Behaviour =>
  (_, response) =>
    response.socket?.[how]()

/** Never answers. */
export const silent: Behaviour = () => undefined

/** Begins an answer of this status and never ends it. */
export const stalled =
  (status: number): Behaviour =>
  (_, response) => {
    response.writeHead(status, JSON_TYPE)
    response.write(BEGINNING)
  }

/** Sends piece after piece, as fast as they are taken or one each turn of the process, until nobody listens. */
export const endless =
  (status: number, piece: string, patient: boolean, headers: Record<string, string> = JSON_TYPE): Behaviour =>
  (_, response) => {
    response.writeHead(status, headers)
    const next = () => {
      if (response.destroyed || response.socket?.destroyed !== false) return
      if (response.write(piece) || patient) setTimeout(next, patient ? 1 : 0)
      else response.once("drain", next)
    }
    next()
  }

/** Bytes in place of an HTTP answer. */
export const raw =
  (...lines: ReadonlyArray<string>): Behaviour =>
  (_, response) =>
    response.socket?.end(lines.join("\r\n"))

const COMPRESS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync, zstd: zstdCompressSync }
export const ENCODINGS = Object.keys(COMPRESS) as ReadonlyArray<keyof typeof COMPRESS>

/** 32 MB of blanks and an answer, in a few kilobytes. */
export const bomb = (status: number, encoding: keyof typeof COMPRESS): Behaviour => {
  const body = COMPRESS[encoding](Buffer.from(" ".repeat(32 * 1024 * 1024) + BEGINNING))
  return (_, response) => {
    response.writeHead(status, { ...JSON_TYPE, "content-encoding": encoding })
    response.end(body)
  }
}

/** Sends the client elsewhere. */
export const redirect =
  (status: number, location: string): Behaviour =>
  (_, response) =>
    json(response, { message: "moved" }, status, { location })

/** Objects in objects, `depth` of them. */
export const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`

/** Turns of the process in which nothing may happen before the test's clock goes on. */
const IDLE_TURNS = 25
const STEP = 250

/**
 * Follows a call to its end over a real connection, by the test's clock: it goes on by a quarter of a second each time
 * that the process has been idle, so that every time-out comes, and none before an answer that is under way.
 */
export const follow = Effect.fn(function* <A, E, R>(call: Effect.Effect<A, E, R>) {
  const start = yield* Clock.currentTimeMillis
  const fiber = yield* Effect.forkChild(Effect.exit(call), { startImmediately: true })
  let done: Exit.Exit<Exit.Exit<A, E>> | undefined
  while (done === undefined) {
    for (let turn = 0; turn < IDLE_TURNS && fiber.pollUnsafe() === undefined; turn++) {
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    }
    done = fiber.pollUnsafe()
    if (done === undefined) yield* TestClock.adjust(STEP)
  }
  const exit = yield* Fiber.join(fiber)
  return { exit, seconds: ((yield* Clock.currentTimeMillis) - start) / 1000 }
})
