/** Answers cite exact quotes of their documents. */
import { assert, describe, it } from "@effect/vitest"
import { GatewayError, Reader, Unreachable, Verifier } from "@sluice/core"
import { notRead, type ReaderPart } from "@sluice/core/models"
import { Library } from "@sluice/rag"
import { Effect, Layer, Stream } from "effect"
import { embedderLayer, modelsLayer, rerankerLayer } from "./Models.ts"
import { handbook } from "./TestFolder.ts"

const withReader = (parts: ReadonlyArray<ReaderPart>, more: Partial<Reader["Service"]> = {}) =>
  Layer.mergeAll(
    embedderLayer,
    rerankerLayer,
    Layer.succeed(
      Reader,
      Reader.of({
        model: { id: "scripted", kind: "generative" },
        read: () => Stream.fromIterable(parts),
        ...more
      })
    )
  )

const QUESTION = "How often must the boiler be inspected, and who holds the key?"
const INSPECTED = "The boiler must be inspected every spring before it is lit."
const KEY = "Only Anna holds the key to the boiler room."

describe("ask", () => {
  it.effect("cites exact quotes, with their place in the document's text", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const library = yield* Library.open(at)
      yield* library.ingest(docs)
      const answer = yield* library.ask(QUESTION)
      assert.deepStrictEqual([answer.found, answer.outcome, answer.closest], [true, "answer", []])
      // A sentence for each of the two questions.
      assert.deepStrictEqual(
        answer.citations.map(({ quote }) => quote),
        [INSPECTED, KEY]
      )
      const [citation] = answer.citations
      assert.isDefined(citation)
      const { parsed } = yield* library.document(citation.documentId)
      assert.strictEqual(parsed.text.slice(citation.start, citation.end), citation.quote)
      assert.deepStrictEqual([citation.n, citation.document, citation.title], [1, "boiler.md", "Boiler"])
      assert.isTrue(answer.answer.endsWith(" [2]"))
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("leaves out a sentence whose quote is not in its passage, and counts it", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const library = yield* Library.open(at)
      yield* library.ingest(docs)
      const answer = yield* library.ask(QUESTION)
      assert.deepStrictEqual(
        answer.sentences.map(({ citations, text }) => [text, citations]),
        [
          ["True.", [1]],
          ["Both.", [2, 1]]
        ]
      )
      assert.strictEqual(answer.dropped, 5)
      assert.deepStrictEqual(
        answer.citations.map(({ n, quote }) => [n, quote]),
        [
          [1, INSPECTED],
          [2, KEY]
        ]
      )
      assert.strictEqual(
        answer.answer,
        "True. [1] Both. [2][1] (5 sentences were left out: their quotes were not found in the cited documents.)"
      )
    }).pipe(
      Effect.provide(
        withReader([
          { text: "True.", evidence: [{ passage: 0, quote: INSPECTED }] },
          { text: "Changed.", evidence: [{ passage: 0, quote: INSPECTED.replace("spring", "autumn") }] },
          { text: "Wrong passage.", evidence: [{ passage: 1, quote: INSPECTED }] },
          { text: "No such passage.", evidence: [{ passage: 7, quote: INSPECTED }] },
          { text: "Empty quote.", evidence: [{ passage: 0, quote: " " }] },
          { text: "No evidence.", evidence: [] },
          {
            text: "Both.",
            evidence: [
              { passage: 0, quote: KEY },
              { passage: 0, quote: INSPECTED }
            ]
          }
        ])
      ),
      Effect.scoped
    )
  )

  it.effect("says in the question's language that nothing was found", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const library = yield* Library.open(at)
      const none = yield* library.ask("What is in an empty library?")
      assert.deepStrictEqual([none.found, none.citations.length, none.trace.passages.length], [false, 0, 0])
      yield* library.ingest(docs)
      const english = yield* library.ask("Zebra?")
      assert.deepStrictEqual([english.outcome, english.closest], ["nothing", []])
      assert.strictEqual(english.answer, "The documents do not answer this question.")
      for (const [question, text] of [
        ["斑马在哪里？", "在这些文档中没有找到这个问题的答案。"],
        ["Wo ist das Zebra und wer hat es?", "Die Dokumente beantworten diese Frage nicht."],
        ["Où est le zèbre et qui l'a ?", "Les documents ne répondent pas à cette question."],
        ["¿Dónde está la cebra y quién la tiene?", "Los documentos no responden a esta pregunta."]
      ] as const)
        assert.strictEqual((yield* library.ask(question)).answer, text)
      assert.isFalse((yield* library.ask("?!")).found)
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  it.effect("shows the closest passages with the question's words if no sentence answers", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const library = yield* Library.open(at)
      yield* library.ingest(docs)
      const { answer, closest, found, outcome } = yield* library.ask("Who painted the boiler?")
      assert.deepStrictEqual(
        [found, outcome, answer],
        [false, "passages", "No sure answer. Closest passages:"]
      )
      assert.isTrue(closest.length > 0 && closest.length <= 10)
      const words = closest.map(({ matches, passage: { text } }) =>
        matches.map(({ end, start }) => text.slice(start, end))
      )
      assert.isTrue(words[0]?.includes("boiler"))
      for (const word of words.flat()) assert.match(word, /boiler|paint/i)
      // Also those that the reader did not get.
      const few = yield* library.ask("Who painted the boiler?", { keep: 1 })
      assert.deepStrictEqual(
        few.closest.map(({ passage }) => passage.id),
        closest.map(({ passage }) => passage.id)
      )
    }).pipe(Effect.provide(withReader([])), Effect.scoped)
  )

  it.effect("emits the stages as they end, then the sentences, then the complete answer", () =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const library = yield* Library.open(at)
      yield* library.ingest(docs)
      const events = yield* Stream.runCollect(library.askEvents(QUESTION))
      assert.deepStrictEqual(
        events.map((event) => (event.type === "stage" ? event.stage.stage : event.type)),
        [
          "embed",
          "recall",
          "fuse",
          "dedupe",
          "rerank",
          "select",
          "recalled",
          "sentence",
          "sentence",
          "read",
          "answer"
        ]
      )
      const last = events.at(-1)
      assert.isTrue(last?.type === "answer" && last.answer.trace.stages.length === 7)
      const error = yield* Effect.flip(Stream.runDrain(library.askEvents("  ")))
      assert.strictEqual(error.reason, "Empty")
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )

  const answering = (parts: ReadonlyArray<ReaderPart>, question = QUESTION) =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const library = yield* Library.open(at)
      yield* library.ingest(docs)
      const events = yield* Stream.runCollect(library.askEvents(question))
      const last = events.at(-1)
      assert(last?.type === "answer")
      return { ...last.answer, events }
    }).pipe(Effect.provide(withReader(parts)), Effect.scoped)

  const proved = { text: "In spring.", evidence: [{ passage: 0, quote: INSPECTED }] }
  const invented = { text: "In autumn.", evidence: [{ passage: 0, quote: "The boiler sleeps in autumn." }] }
  const end = { type: "end", calls: 1, tokens: 7 } as const

  it.effect("is unread, not unanswered, if the model's response could not be read", () =>
    Effect.gen(function* () {
      const {
        closest,
        found,
        notRead: fault,
        outcome,
        answer
      } = yield* answering([{ ...end, notRead: notRead("truncated") }])
      assert.deepStrictEqual([found, outcome, fault?.reason], [false, "unread", "truncated"])
      assert.match(answer, /^The model's answer could not be read\..*cut off.*Raise `maxTokens`/)
      assert.isAbove(closest.length, 0)
      const chinese = yield* answering([{ ...end, notRead: notRead("refused") }], "锅炉多久检查一次？")
      assert.match(chinese.answer, /^模型的回答无法读取。/)
    })
  )

  it.effect("is unread if no sentence is proved", () =>
    Effect.gen(function* () {
      const { answer, dropped, notRead: fault, outcome } = yield* answering([invented])
      assert.deepStrictEqual([outcome, fault?.reason, dropped], ["unread", "unproven", 1])
      assert.match(answer, /\(A sentence was left out: .*\) Closest passages:$/)
    })
  )

  it.effect("is incomplete if the response was cut off after a sentence", () =>
    Effect.gen(function* () {
      const {
        answer,
        notRead: fault,
        outcome
      } = yield* answering([proved, { ...end, notRead: notRead("truncated") }])
      assert.deepStrictEqual([outcome, fault?.reason], ["answer", "truncated"])
      assert.match(answer, /^In spring\. \[1\] \(This answer is incomplete\./)
    })
  )

  it.effect("loses a wrong quote of two, not the sentence, and says who chose a quote", () =>
    Effect.gen(function* () {
      const evidence = [...invented.evidence, { passage: 0, quote: INSPECTED, quoted: "matched" as const }]
      const { citations, dropped } = yield* answering([{ text: "In spring.", evidence }])
      assert.deepStrictEqual(
        citations.map(({ quote, quoted }) => [quote, quoted]),
        [[INSPECTED, "matched"]]
      )
      assert.strictEqual(dropped, 0)
    })
  )

  it.effect("is Markdown with the lists and tables of the model", () =>
    Effect.gen(function* () {
      const texts = [
        "In spring:",
        "- Before it is lit.",
        "- Every year.",
        "| a |\n| - |\n| b |",
        "| c |",
        "So it is."
      ]
      const { answer } = yield* answering(texts.map((text) => ({ ...proved, text })))
      assert.strictEqual(
        answer,
        "In spring: [1]\n\n- Before it is lit. [1]\n- Every year. [1]\n\n| a |\n| - |\n| b [1] |\n| c [1] |\n\nSo it is. [1]"
      )
    })
  )

  it.effect("streams text in advance, which a sentence settles or which is withdrawn", () =>
    Effect.gen(function* () {
      const text = (text: string) => ({ type: "text", text }) as const
      const parts = [text("In "), text("spring."), proved, text("In autumn."), invented, text("Al"), end]
      const { events, trace } = yield* answering(parts)
      assert.deepStrictEqual(
        events.flatMap((event) =>
          event.type === "sentence"
            ? [event.sentence.text]
            : event.type === "text" || event.type === "withdrawn"
              ? [`${event.type}: ${event.text}`]
              : []
        ),
        [
          "text: In ",
          "text: spring.",
          "In spring.",
          "text: In autumn.",
          "withdrawn: In autumn.",
          "text: Al",
          "withdrawn: Al"
        ]
      )
      assert.strictEqual(trace.stages.find(({ stage }) => stage === "read")?.tokens, 7)
    })
  )

  const supported = { text: "Anna has it.", evidence: [{ passage: 0, quote: KEY }] }
  const verifying = (
    verify: "mark" | "drop" | "off" | undefined,
    { failing = false, sentences = [proved, supported] } = {}
  ) =>
    Effect.gen(function* () {
      const { docs, library: at } = yield* handbook
      const library = yield* Library.open(at, { verify: "off" })
      yield* library.ingest(docs)
      return yield* library.ask(QUESTION, { verify })
    }).pipe(
      Effect.provide(
        Layer.merge(
          withReader(sentences),
          Layer.succeed(Verifier, {
            model: { id: "scripted-verifier", kind: "generative" },
            verify: (claims) =>
              failing
                ? Effect.fail(
                    new GatewayError({ operation: "chat", reason: new Unreachable({ message: "No line." }) })
                  )
                : Effect.succeed({
                    doubts: claims.map(({ sentence }) =>
                      sentence === proved.text ? "No season." : undefined
                    ),
                    tokens: 3
                  })
          })
        )
      ),
      Effect.scoped
    )

  it.effect("marks a sentence that its quotes do not support", () =>
    Effect.gen(function* () {
      const { answer, sentences, trace, unsupported } = yield* verifying("mark")
      assert.deepStrictEqual(
        sentences.map((sentence) => sentence.unsupported),
        ["No season.", undefined]
      )
      assert.strictEqual(unsupported, 1)
      assert.strictEqual(answer, "In spring. [1] (unsupported) Anna has it. [2]")
      assert.strictEqual(trace.stages.find(({ stage }) => stage === "verify")?.tokens, 3)
      assert.strictEqual(trace.verifierModel, "scripted-verifier")
    })
  )

  it.effect("leaves out such a sentence with its quotes if it is asked to", () =>
    Effect.gen(function* () {
      const { answer, citations, unsupported } = yield* verifying("drop")
      assert.deepStrictEqual([citations.map(({ n }) => n), unsupported], [[2], 1])
      assert.strictEqual(answer, "Anna has it. [2] (A sentence was left out: its quotes do not support it.)")
    })
  )

  it.effect("is unread if its quotes support no sentence, and such sentences are left out", () =>
    Effect.gen(function* () {
      const { notRead, outcome } = yield* verifying("drop", { sentences: [proved] })
      assert.deepStrictEqual([outcome, notRead?.reason], ["unread", "unsupported"])
    })
  )

  it.effect("is not verified if that is off, and stays if the verifier fails", () =>
    Effect.gen(function* () {
      const off = yield* verifying(undefined)
      assert.deepStrictEqual([off.unsupported, off.trace.verifierModel], [0, undefined])
      const failed = yield* verifying("drop", { failing: true })
      assert.deepStrictEqual([failed.unsupported, failed.sentences.length], [0, 2])
      assert.match(failed.trace.stages.find(({ stage }) => stage === "verify")?.failed ?? "", /No line/)
    })
  )
})
