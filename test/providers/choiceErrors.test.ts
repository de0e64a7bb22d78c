/** Errors that OpenRouter sends with status 200, inside of the choices. */
import { assert, describe, it } from "@effect/vitest"
import { ChatResponse } from "@sluice/core/contract"
import { Effect, Schema } from "effect"
import { errorOf } from "../demo-server/TestServer.ts"
import { startVendor, startWith } from "./VendorServer.ts"

const CHAT = "/v1/chat/completions"
const messages = [{ role: "user", content: "hello" }]

const broken = (code: number, content = "") => ({
  index: 0,
  message: { role: "assistant", content },
  finish_reason: "error",
  error: { code, message: "Provider disconnected", metadata: { raw: "no capacity" } }
})
const whole = { index: 1, message: { role: "assistant", content: "good day" }, finish_reason: "stop" }

/** A server in front of OpenRouter, which has one response. */
const serverOver = (body: unknown) =>
  Effect.gen(function* () {
    const { url } = yield* startVendor(() => [200, body])
    const models = [{ id: "m", operation: "chat", aliases: ["alias"] }]
    return yield* startWith([{ dialect: "openrouter", url, models }])
  })

const completion = (...choices: ReadonlyArray<object>) => ({ id: "gen-1", model: "m", choices })

describe("an error inside of the choices", () => {
  it.live.each<readonly [code: number, status: number]>([
    [400, 400],
    [429, 429],
    [502, 502],
    [503, 503]
  ])("of code %i is the status %i", ([code, status]) =>
    Effect.gen(function* () {
      const server = yield* serverOver(completion(broken(code)))
      for (const model of ["m", "alias"]) {
        const response = yield* server.call(CHAT, { json: { model, messages } })
        assert.strictEqual(response.status, status)
        assert.include((yield* errorOf(response)).message, "Provider disconnected: no capacity")
      }
    }).pipe(Effect.scoped)
  )

  it.live("counts after a long text too", () =>
    Effect.gen(function* () {
      const server = yield* serverOver(completion(broken(502, "word ".repeat(20_000))))
      assert.strictEqual((yield* server.call(CHAT, { json: { model: "m", messages } })).status, 502)
    }).pipe(Effect.scoped)
  )

  it.live("does not hide another choice that is complete", () =>
    Effect.gen(function* () {
      const server = yield* serverOver(completion(broken(502), whole))
      const { choices } = yield* server.json(ChatResponse, CHAT, { json: { model: "m", messages } })
      assert.strictEqual(choices[1]?.message.content, "good day")
    }).pipe(Effect.scoped)
  )

  it.live("is an error event of a stream", () =>
    Effect.gen(function* () {
      const { message: delta, ...choice } = broken(502)
      const chunks = [
        { id: "gen-1", model: "m", choices: [{ index: 0, delta: { content: "good" }, finish_reason: null }] },
        { id: "gen-1", model: "m", choices: [{ ...choice, delta }] }
      ]
      const server = yield* serverOver(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(""))
      for (const model of ["m", "alias"]) {
        const events = yield* server.events(
          Schema.Struct({ error: Schema.optionalKey(Schema.Unknown) }),
          CHAT,
          {
            json: { model, messages, stream: true }
          }
        )
        assert.deepStrictEqual(
          events.map(({ error }) => error),
          [undefined, choice.error]
        )
      }
    }).pipe(Effect.scoped)
  )
})
