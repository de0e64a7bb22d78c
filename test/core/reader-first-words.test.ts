/** The first words of an answer are emitted before the model writes more than the token that they are in. */
import { assert, describe, it } from "@effect/vitest"
import { apiKey, GatewayReader, Reader } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Deferred, Effect, Layer, Stream } from "effect"
import { makeResponseParser } from "../../packages/core/src/readers/ResponseParser.ts"
import { delta, LoopbackGateway } from "./LoopbackGateway.ts"

const FEE = "Mooring a boat overnight costs twelve crowns."
const REST =
  'ing it costs twelve crowns.","citations":[{"passage":1,"quote":"Mooring a boat overnight costs twelve crowns."}]}'

const Readers = Layer.unwrap(
  Effect.map(LoopbackGateway, ({ url: baseUrl }) =>
    Layer.provide(GatewayReader.layer({ model: "c" }), GatewayClient.layer({ baseUrl, apiKey: apiKey("k") }))
  )
).pipe(Layer.provideMerge(LoopbackGateway.layer))

/** What the model writes before the first token of the answer's text, `Moor`. */
const FORMS: ReadonlyArray<readonly [form: string, before: ReadonlyArray<string>, after: string]> = [
  ["one object on each line", ["{", '"text"', ':"'], REST],
  ["a JSON schema", ['{"sentences"', ":[", '{"text"', ':"'], `${REST.slice(0, -1)}}]}`],
  ["a code fence", ["```", "json\n", '{"text":', '"'], `${REST}\n\`\`\``],
  ["reasoning first", ["<think>", "It costs twelve.", "</think>", '{"text":"'], REST],
  ["prose", [], "ing a boat overnight costs twelve crowns [1]."]
]

describe("a generative reader", () => {
  it.live.each(FORMS)("emits the first token of the text at once: %s", ([, before, after]) =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      const isRead = yield* Deferred.make<void>()
      behave((_, response) => {
        const send = (parts: ReadonlyArray<unknown>) => {
          for (const part of parts) {
            response.write(`data: ${typeof part === "string" ? part : JSON.stringify(part)}\n\n`)
          }
        }
        response.writeHead(200, { "content-type": "text/event-stream" })
        send([...before, "Moor"].map(delta))
        // The model writes no more until its first token was emitted.
        Effect.runFork(
          Effect.andThen(
            Deferred.await(isRead),
            Effect.sync(() => {
              send([delta(after), { choices: [{ delta: {}, finish_reason: "stop" }] }, "[DONE]"])
              response.end()
            })
          )
        )
      })
      const parts = yield* (yield* Reader)
        .read("What does mooring cost?", [{ title: "Fees", text: FEE }])
        .pipe(
          Stream.tap((part) => (part.type === "text" ? Deferred.succeed(isRead, undefined) : Effect.void)),
          Stream.runCollect,
          Effect.timeout("10 seconds")
        )
      assert.deepStrictEqual(parts[0], { type: "text", text: "Moor" })
      assert.isTrue(parts.some(({ type }) => type === undefined))
    }).pipe(Effect.provide(Readers))
  )
})

it("text that is shown early is never the name of the next field", () => {
  const parser = makeResponseParser()
  const parts = [...`{"text":"Moor${REST}`].flatMap((character) => parser.push(character))
  const shown = parts.flatMap((part) => (part.type === "text" ? [part.text] : []))
  assert.strictEqual(shown.join(""), "Mooring it costs twelve crowns.")
  assert.deepStrictEqual(
    parts.map(({ type }) => type).filter((type) => type !== "text"),
    ["sentence"]
  )
})
