/** What a reader sends to a model: its options, the fields that the model refuses, and the request after a fault. */
import { assert, describe, it } from "@effect/vitest"
import { apiKey, GatewayReader, Reader } from "@sluice/core"
import { findQuote } from "@sluice/core/text"
import { GatewayClient } from "@sluice/core/client"
import { Effect, Layer, Stream } from "effect"
import { type Behaviour, delta, events, json, LoopbackGateway, openAi } from "./LoopbackGateway.ts"

const QUOTE = "The gate opens at six."
const GOOD = JSON.stringify({ text: "At six.", citations: [{ passage: 1, quote: QUOTE }] })

const says =
  (text: string, finish = "stop"): Behaviour =>
  (_, response) =>
    events(response, [delta(text), { choices: [{ delta: {}, finish_reason: finish }] }, "[DONE]"])

type Sent = Readonly<Record<string, unknown>> & {
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: string }>
}

/** The requests for some readings with one reader: one group of questions after another, those of a group at once. */
const requests = (
  behaviour: Behaviour,
  options: Partial<Parameters<typeof GatewayReader.layer>[0]> = {},
  questions: ReadonlyArray<ReadonlyArray<string>> = [["When?"]]
) =>
  Effect.gen(function* () {
    const { behave, seen, url: baseUrl } = yield* LoopbackGateway
    behave(behaviour)
    const read = (question: string) =>
      Reader.use((reader) => Stream.runDrain(reader.read(question, [{ title: "Gate", text: QUOTE }])))
    yield* Effect.forEach(questions, (group) =>
      Effect.forEach(group, read, { concurrency: "unbounded" })
    ).pipe(
      Effect.provide(
        Layer.provide(
          GatewayReader.layer({ model: "c", ...options }),
          GatewayClient.layer({ baseUrl, apiKey: apiKey("k") })
        )
      )
    )
    return seen.map(({ body }) => body as unknown as Sent)
  }).pipe(Effect.provide(LoopbackGateway.layer))

/** Refuses requests with any of these fields, each by its name. */
const refusing =
  (...fields: ReadonlyArray<string>): Behaviour =>
  (seen, response, nth) => {
    const field = fields.find((name) => name in seen.body)
    if (field === undefined) return says(GOOD)(seen, response, nth)
    json(response, openAi({ message: `Unsupported parameter: ${field}`, param: field }), 400)
  }

const fieldsOf = (sent: Sent | undefined) =>
  ["max_tokens", "max_completion_tokens", "temperature", "response_format"].filter(
    (name) => sent !== undefined && name in sent
  )

describe("a reader's request", () => {
  it.effect("has a limit of tokens, temperature 0 and a response format", () =>
    Effect.gen(function* () {
      const [sent] = yield* requests(says(GOOD))
      assert.deepStrictEqual([sent?.["max_tokens"], sent?.["temperature"]], [1500, 0])
      assert.deepStrictEqual(fieldsOf(sent), ["max_tokens", "temperature", "response_format"])
    })
  )

  it.effect("has the program's fields, instructions and no limits if they are null", () =>
    Effect.gen(function* () {
      const [sent] = yield* requests(says(GOOD), {
        maxTokens: null,
        temperature: null,
        extra: { reasoning_effort: "low" },
        instructions: "Write like a harbour master."
      })
      assert.deepStrictEqual(fieldsOf(sent), ["response_format"])
      assert.strictEqual(sent?.["reasoning_effort"], "low")
      assert.match(sent?.messages[0]?.content ?? "", /Write like a harbour master\.$/)
    })
  )

  it.effect("has the program's own prompt", () =>
    Effect.gen(function* () {
      const [sent] = yield* requests(says(GOOD), {
        prompt: ({ form, passages, question }) => [
          { role: "user", content: `${form} ${question} ${passages.length}` }
        ]
      })
      assert.deepStrictEqual(sent?.messages, [{ role: "user", content: "schema When? 1" }])
    })
  )

  it.effect("has an example in the question's language", () =>
    Effect.gen(function* () {
      const questions = [
        "When does it open?",
        "几点开门？",
        "Wann öffnet das Tor und wo ist es?",
        "いつ開きますか？"
      ]
      const sent = yield* requests(
        says(GOOD),
        {},
        questions.map((question) => [question])
      )
      assert.deepStrictEqual(
        sent.map(
          ({ messages }) => /The library|图书馆|Die Bibliothek|図書館/.exec(messages[0]?.content ?? "")?.[0]
        ),
        ["The library", "图书馆", "Die Bibliothek", "図書館"]
      )
    })
  )

  it.effect("leaves out the fields that the model refused before", () =>
    Effect.gen(function* () {
      const refused = ["max_tokens", "temperature", "response_format"]
      const sent = yield* requests(refusing(...refused), {}, [["When?"], ["When then?"]])
      assert.strictEqual(sent.length, 5)
      assert.deepStrictEqual(sent.slice(-2).map(fieldsOf), [
        ["max_completion_tokens"],
        ["max_completion_tokens"]
      ])
      assert.strictEqual(sent.at(-1)?.["max_completion_tokens"], 1500)
      // Without a format, the prompt asks for lines.
      assert.include(sent.at(-1)?.messages[0]?.content ?? "", "one JSON object on each line")
    })
  )

  it.effect("leaves out the fields that two readings at once were refused", () =>
    Effect.gen(function* () {
      const waiting: Array<() => void> = []
      const behaviour: Behaviour = (seen, response, nth) => {
        const field = JSON.stringify(seen.body.messages).includes("When?") ? "max_tokens" : "temperature"
        if (nth > 1) return says(GOOD)(seen, response, nth)
        waiting.push(() => refusing(field)(seen, response, nth))
        if (waiting.length === 2) for (const refuse of waiting) refuse()
      }
      const sent = yield* requests(behaviour, {}, [["When?", "Where?"], ["Who?"]])
      assert.strictEqual(sent.length, 5)
      assert.deepStrictEqual(fieldsOf(sent.at(-1)), ["max_completion_tokens", "response_format"])
    })
  )

  it.effect("has its fields again after a refusal that named none", () =>
    Effect.gen(function* () {
      const behaviour: Behaviour = (seen, response, nth) =>
        nth === 0 ? json(response, openAi({ message: "Bad request." }), 400) : says(GOOD)(seen, response, nth)
      const sent = yield* requests(behaviour, {}, [["When?"], ["When then?"]])
      const all = ["max_tokens", "temperature", "response_format"]
      assert.deepStrictEqual(sent.map(fieldsOf), [all, [], all])
    })
  )

  it.effect("has more tokens after a response that was cut off", () =>
    Effect.gen(function* () {
      const sent = yield* requests(says("<think>", "length"))
      assert.deepStrictEqual(
        sent.map((body) => body["max_tokens"]),
        [1500, 6000]
      )
    })
  )

  it.effect("repeats a response with its fault", () =>
    Effect.gen(function* () {
      const wrong = GOOD.replace(QUOTE, "The gate never opens.")
      const [, again] = yield* requests(says(wrong))
      const [, , before, fault] = again?.messages ?? []
      assert.deepStrictEqual([before?.role, before?.content], ["assistant", wrong])
      assert.match(
        fault?.content ?? "",
        /^These quotes are not in the passages: \["The gate never opens\."\]/
      )
    })
  )
})

describe("findQuote", () => {
  it("finds no part of a longer word or number", () => {
    assert.isUndefined(findQuote("valid for 3  days", "A ticket is invalid for 3 days."))
    assert.isUndefined(findQuote("0  DAYS after it", "It ends 30 days after it began."))
    assert.strictEqual(findQuote("30  DAYS after it", "It ends 30 days after it began."), "30 days after it")
  })

  it("finds no quote whose parts are far apart", () => {
    const passage = (gap: number) => `Boats may wait${" there".repeat(gap)} until the tide turns.`
    assert.isDefined(findQuote("Boats may wait … until the tide turns", passage(20)))
    assert.isUndefined(findQuote("Boats may wait … until the tide turns", passage(100)))
  })

  it("does not count the addresses of links, whose labels and addresses may have brackets", () => {
    const passage = "See [Gate [3]](https://a.example/Gate_(lock)) and ![a gate](gate.png) at six."
    assert.strictEqual(findQuote("See Gate [3] and a gate at six", passage), passage.slice(0, -1))
  })
})
