/** Request fields that the interface does not define: they are sent, but replace no declared field. */
import { assert, describe, it, layer } from "@effect/vitest"
import { type ChatCall, Gateway, type GatewayError } from "@sluice/core"
import { Effect, Stream } from "effect"
import { ask, behaving, Clients } from "./Clients.ts"
import { json, LoopbackGateway, model } from "./LoopbackGateway.ts"

const EMBEDDINGS = { model: "e", input: ["a", "b"] }
const RERANK = { model: "r", query: "q", documents: ["a", "b"] }

const bodies = Effect.map(LoopbackGateway, ({ seen }) =>
  seen.map(({ body }) => body as unknown as Record<string, unknown>)
)

layer(Clients)("a call's `extra`", (it) => {
  const calls: Readonly<
    Record<
      string,
      readonly [own: string, (extra?: ChatCall["extra"]) => Effect.Effect<unknown, GatewayError, Gateway>]
    >
  > = {
    chat: ["n", (extra = {}) => Gateway.use(({ chat }) => chat({ ...ask, extra }))],
    chatStream: [
      "stream",
      (extra = {}) => Gateway.use(({ chatStream }) => Stream.runDrain(chatStream({ ...ask, extra })))
    ],
    embeddings: [
      "encoding_format",
      (extra = {}) => Gateway.use(({ embeddings }) => embeddings({ ...EMBEDDINGS, extra }))
    ],
    rerank: ["top_n", (extra = {}) => Gateway.use(({ rerank }) => rerank({ ...RERANK, extra }))]
  }
  for (const [name, [own, call]] of Object.entries(calls)) {
    it.effect(`is sent by ${name}, and cannot replace declared fields`, () =>
      Effect.gen(function* () {
        const extra = { user: "u-7", nested: { a: [1, null] } }
        const [plain, more, ...others] = yield* behaving(
          name === "chat"
            ? (_, response) => json(response, { choices: [{ message: { content: "a" } }] })
            : model,
          Effect.gen(function* () {
            yield* call()
            yield* call(extra)
            for (const field of ["model", own]) {
              const { reason, notExecuted } = yield* Effect.flip(call({ ...extra, [field]: 1 }))
              assert.deepInclude(reason, { _tag: "InvalidRequest", param: `extra.${field}` })
              assert.isTrue(notExecuted)
            }
            return yield* bodies
          })
        )
        assert.deepStrictEqual(more, { ...plain, ...extra })
        assert.deepStrictEqual(others, [])
      })
    )
  }

  it.effect("may have tools: a response with tool calls is valid", () =>
    Effect.gen(function* () {
      const tools = [{ type: "function", function: { name: "level" } }]
      const message = { role: "assistant", content: null, tool_calls: [{ id: "c-1", ...tools[0] }] }
      const answer = yield* behaving(
        (_, response) => json(response, { choices: [{ index: 0, message, finish_reason: "tool_calls" }] }),
        Gateway.use(({ chat }) => chat({ ...ask, extra: { tools } }))
      )
      assert.deepInclude(answer, { text: "", finishReason: "tool_calls" })
      assert.deepStrictEqual(answer.extra, { choices: [{ message: { tool_calls: message.tool_calls } }] })
    })
  )
})

describe("a value that is not JSON", () => {
  it("does not compile in `extra`", () => {
    // @ts-expect-error a function
    const chat: ChatCall = { ...ask, extra: { stop: () => "." } }
    assert.isDefined(chat)
  })
})
