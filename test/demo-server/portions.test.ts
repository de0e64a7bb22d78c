/** Steps over large bodies: other requests run between them. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import { vi } from "vitest"
import { seeded } from "../../bench/corpus/Random.ts"
import { checkRequestParts } from "../../apps/demo-server/src/http/BodyParts.ts"
import { jsonInPortions, streamInPortions } from "../../apps/demo-server/src/wire/JsonPortions.ts"
import { endOfString } from "../../apps/demo-server/src/wire/JsonScanner.ts"
import { testServer, TestServer } from "./TestServer.ts"

/** The number of the turn of the event loop. */
const turns = Effect.acquireRelease(
  Effect.sync(() => {
    const counted = { now: 0, ended: false }
    const next = () => {
      counted.now++
      if (!counted.ended) setImmediate(next)
    }
    setImmediate(next)
    return counted
  }),
  (counted) => Effect.sync(() => (counted.ended = true))
)

describe("a large response", () => {
  it.live("is encoded with at most 2 MB in a turn", () =>
    Effect.gen(function* () {
      const turn = yield* turns
      const encoded = new Map<number, number>()
      const element = {
        toJSON: () => {
          encoded.set(turn.now, (encoded.get(turn.now) ?? 0) + 1)
          return "x".repeat(300_000)
        }
      }
      const { body } = yield* jsonInPortions({ data: Array.from({ length: 40 }, () => element) })
      assert.strictEqual(body._tag === "Uint8Array" && body.contentLength, 40 * 300_003 + 10)
      assert.isAtMost(Math.max(...encoded.values()), 6)
    }).pipe(Effect.scoped)
  )

  it.live("is sent in parts of at most 2 MB", () =>
    Effect.gen(function* () {
      const turns = Array.from({ length: 40 }, () => "x".repeat(300_000))
      const { body } = streamInPortions({ id: "c", turns })
      assert(body._tag === "Stream")
      const parts = Array.from(yield* Stream.runCollect(body.stream))
      assert.isAtMost(Math.max(...parts.map(({ length }) => length)), 2_000_000)
      assert.deepStrictEqual(JSON.parse(Buffer.concat(parts).toString()), { id: "c", turns })
    })
  )

  it.effect("is the same JSON as in one portion", () =>
    Effect.gen(function* () {
      const values = [
        {},
        { a: [] },
        { a: undefined, b: null, c: [1, null, { d: [] }], 'e"\n': "f", g: { h: undefined } },
        { a: undefined }
      ]
      for (const value of values) {
        const { body } = yield* jsonInPortions(value)
        assert.strictEqual(
          body._tag === "Uint8Array" && new TextDecoder().decode(body.body),
          JSON.stringify(value)
        )
      }
    })
  )
})

const requestOf = (json: string) =>
  ({
    headers: {},
    method: "POST",
    text: Effect.succeed(json)
  }) as unknown as HttpServerRequest.HttpServerRequest

describe("the parts of a body", () => {
  it("are counted in a turn of their own if it is large", () => {
    for (const [length, hasEnded] of [
      [1_000, true],
      [1_000_000, false]
    ] as const) {
      const fiber = Effect.runFork(checkRequestParts(requestOf(JSON.stringify("x".repeat(length)))))
      assert.strictEqual(fiber.pollUnsafe() !== undefined, hasEnded)
    }
  })

  it("strings end where JSON ends them", () => {
    const random = seeded(1)
    for (let round = 0; round < 3_000; round++) {
      const text = Array.from({ length: random.between(0, 60) }, () =>
        random.pick(['"', "\\", "a", "中", "\n"])
      ).join("")
      const quoted = JSON.stringify(text)
      assert.strictEqual(endOfString(`[${quoted},""]`, 1), quoted.length + 1)
      assert.strictEqual(endOfString(quoted.slice(0, -1), 0), -1)
    }
  })

  it("a string of quotes is not searched quote by quote", () => {
    const quoted = JSON.stringify('"'.repeat(32_000))
    const search = vi.spyOn(String.prototype, "indexOf")
    const end = endOfString(quoted, 0)
    const searches = search.mock.calls.length
    search.mockRestore()
    assert.strictEqual(end, quoted.length)
    assert.isAtMost(searches, 2_000)
  })
})

layer(testServer(), { excludeTestServices: true })("a large request", (it) => {
  it.effect("is parsed, and parsed again to be billed, in two turns", () =>
    Effect.gen(function* () {
      const { call } = yield* TestServer
      const turn = yield* turns
      const parsed: Array<number> = []
      const { parse } = JSON
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          JSON.parse = (text, reviver) => {
            if (text.length > 1_000_000) parsed.push(turn.now)
            return parse(text, reviver) as unknown
          }
        }),
        () => Effect.sync(() => (JSON.parse = parse))
      )
      const tools = [{ description: "x".repeat(1_000_000) }]
      const messages = [{ role: "user", content: "Is the gate open?" }]
      const response = yield* call("/v1/chat/completions", {
        json: { model: "sluice-extractive", messages, tools }
      })
      assert.strictEqual(response.status, 200)
      assert.isAtLeast(parsed.length, 2)
      assert.strictEqual(new Set(parsed).size, parsed.length)
    }).pipe(Effect.scoped)
  )
})
