import { assert, describe, it } from "@effect/vitest"
import { GatewayError } from "@sluice/core"
import { TestGateway } from "@sluice/core/testing"
import { Effect, Schema } from "effect"
import { chat } from "./Clients.ts"
import { runWithClock } from "./runWithClock.ts"

const ask = (status: number, body: unknown) =>
  chat.pipe(
    Effect.provide(TestGateway.layer({ respond: () => Response.json(body, { status }) })),
    runWithClock,
    Effect.flatMap(({ exit }) => Effect.flip(exit))
  )

const Word = Schema.Union([Schema.String, Schema.Finite, Schema.Null, Schema.Json])
const Fault = Schema.Struct({ message: Word, msg: Word, param: Word, code: Word, type: Word, loc: Word })
const Refusal = Schema.Union([
  Schema.Json,
  Fault,
  Schema.Struct({ error: Schema.Union([Fault, Word]) }),
  Schema.Struct({ success: Schema.Literal(false), message: Word, data: Schema.Null }),
  Schema.Struct({ detail: Schema.Array(Fault) }),
  Schema.Array(Schema.Struct({ error: Fault }))
])

describe("a refusal", () => {
  it.effect.prop(
    "it has a reason and a message on one line",
    [Schema.Literals([200, 400, 403, 404, 418, 429, 500, 599]), Refusal],
    ([status, body]) =>
      Effect.gen(function* () {
        const error = yield* ask(status, body)
        assert.instanceOf(error, GatewayError)
        assert.isNotEmpty(error.reason.message.trim())
        assert.isAtMost(error.message.length, 900)
      })
  )

  const terse: ReadonlyArray<readonly [name: string, body: unknown, tag: string, message: string]> = [
    [
      "lines and escapes",
      { error: { message: "a\r\n\u001b[31mERROR\u0000 b" } },
      "InvalidRequest",
      "a [31mERROR b"
    ],
    ["half a character", { message: "a\ud800b" }, "InvalidRequest", "a b"],
    ["a code that is no status", { error: { message: "m", code: 500.5 } }, "InvalidRequest", "m"],
    ["a page of text", { message: "x".repeat(1_000_000) }, "InvalidRequest", "x".repeat(400)]
  ]
  for (const [name, body, tag, message] of terse) {
    it.effect(`is parsed: ${name}`, () =>
      Effect.gen(function* () {
        const { reason } = yield* ask(400, body)
        assert.deepStrictEqual([reason._tag, reason.message], [tag, message])
      })
    )
  }

  it.effect("in a 200 response ignores a code that is not a status", () =>
    Effect.gen(function* () {
      const { reason } = yield* ask(200, { error: { message: "m", code: 500.5 } })
      assert.deepStrictEqual([reason._tag, "status" in reason && reason.status], ["ServerFailure", 502])
    })
  )
})
