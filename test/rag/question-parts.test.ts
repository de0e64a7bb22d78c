/** Several questions in one, and comparisons: split, retrieved apart, and answered together. */
import { assert, describe, it } from "@effect/vitest"
import { apiKey, GatewayReader, Reader } from "@sluice/core"
import type { ReaderPart } from "@sluice/core/models"
import { GatewayClient } from "@sluice/core/client"
import * as Embedded from "@sluice/embedded"
import { splitQuestion } from "@sluice/rag/retrieval"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer, Stream } from "effect"
import { delta, events, LoopbackGateway } from "../core/LoopbackGateway.ts"
import { library } from "./SmallLibrary.ts"

const Models = Layer.mergeAll(Embedded.layer, NodeServices.layer)

/** Each document has enough of its own that three passages are of one document. */
const FILES = {
  "ferry.md":
    "# The ferry\n\nThe ferry ticket costs 12 crowns.\n\n# Ferry tickets\n\nFerry tickets are sold at the pier.\n\n# Ferry ticket refunds\n\nA ferry ticket that costs more than 10 crowns can be returned.",
  "bus.md":
    "# The bus\n\nThe bus takes 45 minutes to the castle.\n\n# Bus rules\n\nBicycles are not allowed on the bus.",
  "rules.md": "# Ferry rules\n\nBicycles travel free on the ferry."
}

const SPLITS: ReadonlyArray<readonly [question: string, ...parts: ReadonlyArray<string>]> = [
  ["What does A cost and how long does B take?", "What does A cost?", "How long does B take?"],
  ["How old is pump X100 and what does it weigh?", "How old is pump X100?", "What does pump X100 weigh?"],
  ["What is X100? How heavy is it?", "What is X100?", "How heavy is X100?"],
  [
    "Was kostet die Fähre und wie lange dauert sie?",
    "Was kostet die Fähre?",
    "Wie lange dauert sie (die Fähre)?"
  ],
  ["Combien coûte le billet et quand ouvre le musée ?", "Combien coûte le billet?", "Quand ouvre le musée?"],
  [
    "¿Cuánto cuesta el billete y cuándo abre el museo?",
    "¿Cuánto cuesta el billete?",
    "Cuándo abre el museo?"
  ],
  ["门票多少钱，博物馆几点开门？", "门票多少钱？", "博物馆几点开门？"],
  ["门票多少钱？博物馆几点开门？", "门票多少钱？", "博物馆几点开门？"],
  ["What does it cost? When does it open on Sundays?", "What does it cost?", "When does it open on Sundays?"],
  ["Compare the rules of the harbour and the marina", "the rules of the harbour", "the rules of the marina"],
  ["What is the difference between Raft and Paxos?", "Raft", "Paxos"],
  ["Wie unterscheiden sich die Regeln von A und B?", "die Regeln von A", "die Regeln von B"],
  ["Quelle est la différence entre le bus et le ferry ?", "le bus", "le ferry"],
  ["¿Qué diferencia hay entre el bus y el ferry?"],
  ["Compara el precio de A con el precio de B", "el precio de A", "el precio de B"],
  ["比较港口和码头的规则", "港口的规则", "码头的规则"],
  // One question each.
  ["Where and when was Turing born?"],
  ["Who built the weir and the lock?"],
  ["Does the manual say when it opens and when it closes?"],
  ["Which people who lived in Rome and who died in Paris wrote books?"],
  ["1965年几内亚和法国断交后，采用新的货币叫什么？"],
  ["相关组织在什么情况下，会正式判断该物种应归入哪一个风险组别？"]
]

/** A library whose reader is a chat model with a scripted response. */
const chatting = (response: string) =>
  Effect.gen(function* () {
    const gateway = yield* LoopbackGateway
    const ended = [{ choices: [{ delta: {}, finish_reason: "stop" }] }, "[DONE]"]
    gateway.behave((_, reply) => events(reply, [...(response.match(/.{1,7}/gsu) ?? []).map(delta), ...ended]))
    const reader = yield* Layer.build(
      Layer.provide(
        GatewayReader.layer({ model: "c" }),
        GatewayClient.layer({ baseUrl: gateway.url, apiKey: apiKey("k") })
      )
    )
    return { gateway, opened: yield* library(FILES, { keep: 1 }).pipe(Effect.provideContext(reader)) }
  })

describe("several questions in one", () => {
  for (const [question, ...parts] of SPLITS)
    it(`${parts.length === 0 ? "keeps" : "splits"} “${question}”`, () => {
      assert.deepStrictEqual(splitQuestion(question).parts, parts)
    })

  it.effect("are retrieved apart and answered part by part by a reader that quotes", () =>
    Effect.gen(function* () {
      const opened = yield* library(FILES, { keep: 1 })
      const question = "What does the ferry ticket cost and how long does the bus take?"
      const answer = yield* opened.ask(question)
      assert.deepStrictEqual(answer.parts, [
        { question: "What does the ferry ticket cost?", found: true },
        { question: "How long does the bus take?", found: true }
      ])
      assert.include(answer.answer, "12 crowns")
      assert.include(answer.answer, "45 minutes")
      assert.deepStrictEqual(
        answer.trace.parts,
        answer.parts?.map((part) => part.question)
      )
      assert.deepStrictEqual(
        answer.trace.passages.map(({ rerankRank }) => rerankRank).toSorted((a, b) => a - b),
        answer.trace.passages.map((_, i) => i + 1)
      )
      const whole = yield* opened.ask(question, { multi: false })
      assert.isUndefined(whole.parts)
      assert.isUndefined(whole.trace.parts)
    }).pipe(Effect.scoped, Effect.provide(Models))
  )

  it.effect("have an answer that says which part is missing", () =>
    Effect.gen(function* () {
      const opened = yield* library(FILES)
      const answer = yield* opened.ask("What does the ferry ticket cost and who designed the lighthouse?")
      assert.deepStrictEqual(answer.parts, [
        { question: "What does the ferry ticket cost?", found: true },
        { question: "Who designed the lighthouse?", found: false }
      ])
      assert.include(answer.answer, "(The documents do not answer: Who designed the lighthouse?)")
      const none = yield* opened.ask("Who designed the lighthouse and how tall is the obelisk?")
      assert.strictEqual(none.found, false)
      assert.notInclude(none.answer, "do not answer: ")
    }).pipe(Effect.scoped, Effect.provide(Models))
  )

  it.effect("may be numbered in the prose of a chat model", () =>
    Effect.gen(function* () {
      const { opened } = yield* chatting(
        "**Part 1:** The ferry ticket costs 12 crowns [1].\n**Part 2:** PART_NOT_ANSWERED 2"
      )
      const { found, parts, unsupported } = yield* opened.ask(
        "What does the ferry ticket cost and who designed the lighthouse?"
      )
      assert.deepStrictEqual([found, unsupported], [true, 0])
      assert.deepStrictEqual(
        parts?.map((part) => part.found),
        [true, false]
      )
    }).pipe(
      Effect.scoped,
      Effect.provide(Layer.mergeAll(Models, Embedded.layerVerifier, LoopbackGateway.layer))
    )
  )

  it.effect("are one call of a chat model, which says what is missing", () =>
    Effect.gen(function* () {
      const { gateway, opened } = yield* chatting(
        `${JSON.stringify({ text: "A ticket is 12 crowns.", citations: [{ passage: 1, quote: "The ferry ticket costs 12 crowns." }] })}\n${JSON.stringify({ text: "PART_NOT_ANSWERED 2", citations: [] })}`
      )
      const said = yield* Stream.runCollect(
        opened.askEvents("What does the ferry ticket cost and who designed the lighthouse?")
      )
      const answer = [...said].findLast((event) => event.type === "answer")!.answer
      assert.strictEqual(gateway.seen.length, 1)
      const prompt = JSON.stringify(gateway.seen[0]?.body)
      assert.include(prompt, "Part 2: ")
      assert.deepStrictEqual(
        answer.parts?.map(({ found }) => found),
        [true, false]
      )
      assert.include(answer.answer, "(The documents do not answer: Who designed the lighthouse?)")
      assert.strictEqual(answer.dropped, 0)
      assert.notInclude(
        [...said].flatMap((event) => (event.type === "text" ? [event.text] : [])).join(""),
        "PART_NOT"
      )
    }).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(Models, LoopbackGateway.layer)))
  )

  it.effect("are not found if a chat model answers no part", () =>
    Effect.gen(function* () {
      const { gateway, opened } = yield* chatting(
        [1, 2].map((n) => JSON.stringify({ text: `PART_NOT_ANSWERED ${n}`, citations: [] })).join("\n")
      )
      const answer = yield* opened.ask("What does the ferry ticket cost and who designed the lighthouse?")
      assert.strictEqual(answer.outcome, "passages")
      assert.strictEqual(gateway.seen.length, 1)
    }).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(Models, LoopbackGateway.layer)))
  )
})

describe("a comparison", () => {
  it.effect("has passages of both sides", () =>
    Effect.gen(function* () {
      const read: Array<ReadonlyArray<string>> = []
      const reader = Layer.succeed(
        Reader,
        Reader.of({
          model: { id: "scripted", kind: "generative" },
          read: (_, passages, parts) => {
            read.push(passages.map(({ text }) => text))
            return Stream.fromIterable<ReaderPart>([
              { text: parts?.join(" / ") ?? "", evidence: [{ passage: 0, quote: passages[0]?.text ?? "" }] }
            ])
          }
        })
      )
      const opened = yield* library(FILES, { keep: 1 }).pipe(Effect.provide(reader))
      const question = "Compare the rules of the ferry and the bus"
      const answer = yield* opened.ask(question, { context: { passages: 1, section: false } })
      assert.strictEqual(answer.trace.parts?.[0], question)
      assert.include(answer.answer, "the rules of the ferry / the rules of the bus")
      assert.isTrue(read[0]?.some((text) => text.includes("free on the ferry")))
      assert.isTrue(read[0]?.some((text) => text.includes("not allowed on the bus")))
    }).pipe(Effect.scoped, Effect.provide(Models))
  )

  it.effect("has no part found if a reader that quotes answers only the whole", () =>
    Effect.gen(function* () {
      const question = "Compare the rules of the ferry and the bus"
      const reader = Layer.succeed(
        Reader,
        Reader.of({
          model: { id: "scripted", kind: "extractive" },
          read: (asked, passages) => {
            const quote = passages[0]?.text ?? ""
            const sentence: ReaderPart = { text: quote, evidence: [{ passage: 0, quote }] }
            return Stream.fromIterable(asked === question ? [sentence] : [])
          }
        })
      )
      const opened = yield* library(FILES).pipe(Effect.provide(reader))
      const answer = yield* opened.ask(question)
      assert.isTrue(answer.found)
      assert.deepStrictEqual(
        answer.parts?.map(({ found }) => found),
        [false, false]
      )
    }).pipe(Effect.scoped, Effect.provide(Models))
  )

  it.effect("is answered from both sides by a reader that quotes", () =>
    Effect.gen(function* () {
      const opened = yield* library(FILES)
      const answer = yield* opened.ask("Compare the rules of the ferry and the bus")
      assert.include(answer.answer, "free on the ferry")
      assert.include(answer.answer, "not allowed on the bus")
    }).pipe(Effect.scoped, Effect.provide(Models))
  )
})
