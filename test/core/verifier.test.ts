/** Verifiers: the embedded one's rules, and a chat model over a real server. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { apiKey, GatewayVerifier, Verifier } from "@sluice/core"
import { followsQuotes, unsupportedReason } from "@sluice/core/text"
import type { VerifiedClaim } from "@sluice/core/models"
import { GatewayClient } from "@sluice/core/client"
import { layerStrictVerifier, layerVerifier } from "@sluice/embedded"
import { Effect, Layer } from "effect"
import { type Behaviour, delta, events, LoopbackGateway } from "./LoopbackGateway.ts"

const ROWS = "| Gate | Opens at |\n| --- | --- |\n| North | 06:30 |\n| South | 07:15 |"
const QUOTE = "Mooring a boat overnight costs twelve crowns, and Anna Berg collects them."

describe("unsupportedReason", () => {
  const doubts: ReadonlyArray<readonly [sentence: string, quote: string, doubt: RegExp | undefined]> = [
    ["A boat that is moored overnight costs 12 crowns.", QUOTE, undefined],
    ["A boat that is moored overnight costs 13 crowns.", QUOTE, /number 13/],
    ["A boat moored overnight does not cost twelve crowns.", QUOTE, /negated/],
    ["Mooring a boat overnight costs twelve crowns.", QUOTE.replace("costs", "never costs"), /negated/],
    ["The twelve crowns are collected by Peter Berg.", QUOTE, /name Peter/],
    ["Lanterns hang along every quay.", QUOTE, /too few words/],
    ["The wall is 20 metres long.", "The wall is 20 cm long.", /another unit than 20 metres/],
    ["They stay for twelve weeks.", "They stay for 12 nights.", /another unit than 12 weeks/],
    ["They stay for twelve nights.", "They stay for 12 nights, or 12 weeks.", undefined],
    ["The South gate opens at 07:15.", ROWS, undefined],
    ["The South gate opens at 06:30.", ROWS, /number 6:30 is in another row/],
    ["退款需要14天。", "退款需要十四天。", undefined],
    ["退款需要15天。", "退款需要十四天。", /number 15/],
    ["退款不需要十四天。", "退款需要十四天。", /negated/],
    // Words of another language cannot be compared. Numbers can.
    ["系船一晚要12克朗。", QUOTE, undefined],
    ["系船一晚要13克朗。", QUOTE, /number 13/]
  ]
  it.each(doubts)("%s", (sentence, quote, doubt) => {
    const reason = unsupportedReason(sentence, quote)
    if (doubt === undefined) assert.isUndefined(reason)
    else assert.match(reason ?? "", doubt)
  })

  it("takes names from the context", () => {
    const sentence = "At Saltmere, a boat costs twelve crowns."
    assert.match(unsupportedReason(sentence.replace("At", "In winter at"), QUOTE) ?? "", /name Saltmere/)
    assert.isUndefined(unsupportedReason(sentence, QUOTE, "Saltmere handbook"))
  })
})

describe("followsQuotes", () => {
  const sentences: ReadonlyArray<readonly [sentence: string, follows: boolean]> = [
    ["A boat overnight costs 12 crowns.", true],
    ["The mooring of boats overnight costs twelve crowns, and Anna Berg collects them.", true],
    ["Mooring a boat overnight hardly costs twelve crowns.", false],
    ["Anna Berg collects a boat, and mooring them costs twelve crowns.", false]
  ]
  it.each(sentences)("%s: %s", (sentence, follows) => {
    assert.strictEqual(followsQuotes(sentence, QUOTE), follows)
  })

  it("takes no long time for long texts", () => {
    assert.isFalse(followsQuotes("boat ".repeat(5_000), "boat ".repeat(50_000)))
  })
})

describe("the held-out half of test/qa/support-pairs.jsonl", () => {
  const pairs = readFileSync("test/qa/support-pairs.jsonl", "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ heldOut }) => heldOut)

  const measured = Effect.gen(function* () {
    const { verify } = yield* Verifier
    const { doubts } = yield* verify(pairs.map((pair) => ({ ...pair, context: "" })))
    const stays = pairs.filter((_, i) => doubts[i] === undefined)
    const right = stays.filter(({ supported }) => supported).length
    return {
      precision: right / stays.length,
      recall: right / pairs.filter(({ supported }) => supported).length
    }
  })

  it.effect.each([
    { name: "default", verifier: layerVerifier, precision: 0.72, recall: 0.95 },
    { name: "strict", verifier: layerStrictVerifier, precision: 0.95, recall: 0.8 }
  ])("is verified as well as documented: $name", ({ precision, recall, verifier }) =>
    Effect.gen(function* () {
      const found = yield* measured
      assert.isAtLeast(found.precision, precision)
      assert.isAtLeast(found.recall, recall)
    }).pipe(Effect.provide(verifier))
  )
})

const claims: ReadonlyArray<VerifiedClaim> = [
  { sentence: "It costs 12 crowns.", quotes: [QUOTE], context: "Mooring" },
  { sentence: "It costs 13 crowns.", quotes: [QUOTE], context: "Mooring" }
]

const verify = Verifier.use((verifier) => verifier.verify(claims))

describe("a verifier", () => {
  it.effect("of this process says which sentence its quotes do not support", () =>
    Effect.gen(function* () {
      const { doubts, tokens } = yield* verify
      assert.deepStrictEqual([doubts[0], tokens], [undefined, 0])
      assert.match(doubts[1] ?? "", /13/)
    }).pipe(Effect.provide(layerVerifier))
  )

  const Verifiers = Layer.unwrap(
    Effect.map(LoopbackGateway, ({ url: baseUrl }) =>
      Layer.provide(
        GatewayVerifier.layer({ model: "c" }),
        GatewayClient.layer({ baseUrl, apiKey: apiKey("k") })
      )
    )
  ).pipe(Layer.provideMerge(LoopbackGateway.layer))

  const says =
    (text: string): Behaviour =>
    (_, response) =>
      events(response, [
        delta(text),
        {
          choices: [{ delta: {}, finish_reason: "stop" }],
          usage: { prompt_tokens: 50, completion_tokens: 9 }
        },
        "[DONE]"
      ])

  it.effect("of a gateway sends one chat for all sentences", () =>
    Effect.gen(function* () {
      const { behave, seen } = yield* LoopbackGateway
      const verdicts = [
        { claim: 2, supported: false, reason: "13, not 12" },
        { claim: 1, supported: true, reason: "" }
      ]
      behave(says(`<think>{"supported":false}</think>\`\`\`json\n${JSON.stringify({ verdicts })}\n\`\`\``))
      assert.deepStrictEqual(yield* verify, { doubts: [undefined, "13, not 12"], tokens: 59 })
      assert.strictEqual(seen.length, 1)
      assert.include(seen[0]?.body.messages[1]?.content ?? "", '{"claim":2,"text":"It costs 13 crowns."')
    }).pipe(Effect.provide(Verifiers))
  )

  it.effect.each([
    '{"verdicts":[{"claim":"1","supported":"true"},{"claim":"2","supported":"false","reason":"13"}]}',
    '{"verdicts":[{"supported":true},{"supported":false,"reason":"13"}]}',
    '{"verdicts":[{"claim":0,"supported":true},{"claim":1,"supported":false,"reason":"13"}]}',
    '{"1":{"supported":"yes"},"2":{"supported":"no","reason":"13"}}',
    '{"claim":1,"supported":true}\n{"claim":2,"supported":false,"reason":"13"}'
  ])("of a gateway reads %s", (text) =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      behave(says(text))
      assert.deepStrictEqual((yield* verify).doubts, [undefined, "13"])
    }).pipe(Effect.provide(Verifiers))
  )

  it.effect("of a gateway doubts a sentence without a verdict, and fails without any", () =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      behave(says('[{"claim":1,"supported":true}]'))
      const { doubts } = yield* verify
      assert.deepStrictEqual(doubts, [undefined, "The verifying model gave no verdict."])
      behave(says("All of them are fine."))
      assert.strictEqual((yield* Effect.flip(verify)).reason._tag, "InvalidResponse")
    }).pipe(Effect.provide(Verifiers))
  )
})
