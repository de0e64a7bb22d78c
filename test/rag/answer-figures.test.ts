/** Figures that a vision model sees: their descriptions, and answers about them. */
import { assert, describe, it } from "@effect/vitest"
import { Embedder, GatewayError, ServerFailure, Vision } from "@sluice/core"
import { Library, type PassageFigure } from "@sluice/rag"
import { LanceIndex, PassageIndex } from "@sluice/rag/store"
import type { Parsed } from "@sluice/rag/formats"
import { Effect, Layer, Ref, Stream } from "effect"
import { CHUNKER } from "../../packages/rag/src/chunking/Chunker.ts"
import { FigureDescriptions } from "../../packages/rag/src/ingest/DescribeFigures.ts"
import { chunkParsed } from "../../packages/rag/src/formats/ParsedFile.ts"
import { chunkedDocument } from "../../packages/rag/src/ingest/ChunkedDocument.ts"
import { FORMAT } from "../../packages/rag/src/store/Manifest.ts"
import { parseMarkdown } from "../../packages/rag/src/formats/markdown/Markdown.ts"
import { sha256 } from "../../packages/rag/src/document/Hash.ts"
import { BLUE, png, RED } from "../laws/Pictures.ts"
import { DIMENSION, modelsLayer } from "./Models.ts"
import { testFolder } from "./TestFolder.ts"

const LEVELS = "Figure 3: Water level of the upper pond by month.\nJan 4.20 m\nJul 3.10 m"
const PLAN = "Figure 4: Plan of the pond."
const PROSE = "Figure 3 shows how the water level of the upper pond falls until summer."
const TEXT = [LEVELS, PROSE, PLAN].join("\n\n")
const LEVELS_CROP = png(RED)
const PLAN_CROP = png(BLUE)

const figureOf = (number: string, caption: string, crop: Uint8Array): PassageFigure => ({
  kind: "figure",
  number,
  caption,
  page: 1,
  box: [10, 20, 110, 220],
  crop: sha256(crop)
})

/** A document with two figures, and a paragraph that refers to the first. */
const pond = Effect.gen(function* () {
  const { embed, model } = yield* Embedder
  const index = yield* PassageIndex
  const manifest = { format: FORMAT, embeddingModel: model.id, dimension: DIMENSION, chunker: CHUNKER }
  const collection = yield* index.open("default", manifest)
  const parts = [
    { text: LEVELS, figure: figureOf("3", LEVELS.split("\n")[0]!, LEVELS_CROP) },
    { text: PROSE },
    { text: PLAN, figure: figureOf("4", PLAN, PLAN_CROP) }
  ]
  const { vectors } = yield* embed(
    parts.map(({ text }) => text),
    "passage"
  )
  const passages = parts.map((part, ordinal) => {
    const start = TEXT.indexOf(part.text)
    const passage = {
      ...part,
      ordinal,
      start,
      end: start + part.text.length,
      headings: ["Pond"],
      page: 1,
      lines: []
    }
    return { passage, hash: sha256(part.text), vector: vectors[ordinal], search: part.text }
  })
  const original = new TextEncoder().encode(TEXT)
  const info = {
    id: sha256("pond.pdf").slice(0, 32),
    path: "pond.pdf",
    title: "Pond",
    format: "pdf" as const,
    bytes: original.byteLength,
    sha256: sha256(original),
    passages: parts.length,
    pages: 1
  }
  const attachments = new Map([LEVELS_CROP, PLAN_CROP].map((crop) => [sha256(crop), crop]))
  yield* collection.commit([{ info, source: "", original, attachments, passages, replaces: undefined }])
  return yield* Library.make()
})

/** Describes the red picture, and records its calls. */
const seeing = (asked: Ref.Ref<ReadonlyArray<string>>, kind: "generative" | "extractive", said: string) =>
  Layer.succeed(
    Vision,
    Vision.of({
      model: { id: "test-eye", kind, maxImages: 2, maxImageBytes: 1e6, formats: ["png"] },
      look: (question, [image]) =>
        Effect.as(
          Ref.update(asked, (before) => [...before, question]),
          sha256(image!) === sha256(LEVELS_CROP)
            ? { text: said, tokens: 700 }
            : { text: "NOT_SHOWN", tokens: 90 }
        )
    })
  )

const withStore = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { library } = yield* testFolder
    return yield* effect.pipe(Effect.provide(LanceIndex.layer(library)))
  }).pipe(Effect.provide(modelsLayer), Effect.scoped)

const QUESTION = "How high is the water level of the upper pond in March?"
const SEEN = "In March the water level of the upper pond is about 39 dm."

describe("figures at ingest", () => {
  it.effect("are described if configured, and the description is searched but not part of the passage", () =>
    Effect.gen(function* () {
      const asked = yield* Ref.make<ReadonlyArray<string>>([])
      const parsed = {
        ...parseMarkdown(TEXT),
        figures: [
          { kind: "figure", number: "3", start: 0, end: LEVELS.length, mentions: [], crop: LEVELS_CROP }
        ]
      } satisfies Parsed
      const file = { path: "pond.md", source: "", original: LEVELS_CROP, sha256: "0", metadata: undefined }
      const searched = (on: boolean, kind: "generative" | "extractive") =>
        chunkParsed(file.path, parsed).pipe(
          Effect.flatMap((chunked) => chunkedDocument(file, chunked)),
          Effect.provideService(FigureDescriptions, on),
          Effect.provide(seeing(asked, kind, "A falling curve.")),
          Effect.map(({ passages }) => passages.map(({ passage, text }) => [passage.text, text] as const))
        )
      const [described] = yield* searched(true, "generative")
      assert.deepStrictEqual(described?.[0], LEVELS)
      assert.match(described?.[1] ?? "", /A falling curve\.$/)
      assert.strictEqual((yield* Ref.get(asked)).length, 1)
      for (const [passage, text] of [
        ...(yield* searched(false, "generative")),
        ...(yield* searched(true, "extractive"))
      ]) {
        assert.notInclude(passage + text, "falling curve")
      }
      assert.strictEqual((yield* Ref.get(asked)).length, 1)
    })
  )
})

describe("questions about figures", () => {
  it.effect("asks the vision model once per question and figure, and cites its answer as seen", () =>
    Effect.gen(function* () {
      const asked = yield* Ref.make<ReadonlyArray<string>>([])
      const library = yield* pond.pipe(Effect.provide(seeing(asked, "generative", SEEN)))
      const events = yield* Stream.runCollect(library.askEvents(QUESTION))
      const types = events.map((event) => (event.type === "stage" ? event.stage.stage : event.type))
      assert.strictEqual(
        types.slice(types.indexOf("recalled")).join(" "),
        "recalled looked looked look sentence read answer"
      )
      const last = events.at(-1)
      assert.isTrue(last?.type === "answer")
      if (last?.type !== "answer") return
      const { answer } = last
      assert.include(answer.answer, "39 dm")
      const [citation] = answer.citations
      assert.isDefined(citation)
      assert.deepStrictEqual(
        [
          citation.seen,
          citation.quote,
          citation.start === citation.end,
          citation.figure?.number,
          citation.page
        ],
        [true, "", true, "3", 1]
      )
      assert.deepStrictEqual(citation.boxes, [{ page: 1, box: [10, 20, 110, 220] }])
      assert.strictEqual(citation.figure?.crop, sha256(LEVELS_CROP))
      assert.deepStrictEqual(
        answer.figures.map(({ cached, detail, figure, said, tokens }) => [
          figure.number,
          said,
          tokens,
          detail,
          cached
        ]),
        [
          ["3", SEEN, 700, "low", false],
          ["4", "", 90, "low", false]
        ]
      )
      const stage = answer.trace.stages.find(({ stage }) => stage === "look")
      assert.deepStrictEqual([stage?.tokens, answer.trace.visionModel], [790, "test-eye"])
      const questions = yield* Ref.get(asked)
      assert.isTrue(questions.every((question) => question.includes(QUESTION)))

      const again = yield* library.ask(QUESTION)
      assert.strictEqual((yield* Ref.get(asked)).length, 2)
      assert.deepStrictEqual(
        [again.answer, again.figures.map(({ cached }) => cached)],
        [answer.answer, [true, true]]
      )
      assert.strictEqual(again.trace.stages.find(({ stage }) => stage === "look")?.tokens, 0)
      yield* library.ask("How high is the water level of the upper pond in May?")
      assert.strictEqual((yield* Ref.get(asked)).length, 4)
    }).pipe(withStore)
  )

  it.effect("uses of an extractive model only text of the figure", () =>
    Effect.gen(function* () {
      const asked = yield* Ref.make<ReadonlyArray<string>>([])
      const said = "jan 4.20 m\nwater level of the upper pond 9.99 m"
      const library = yield* pond.pipe(Effect.provide(seeing(asked, "extractive", said)))
      const events = yield* Stream.runCollect(
        library.askEvents("Jan water level of the upper pond 4.20 or 9.99 m?")
      )
      // Sentences do not wait for a model that can only confirm them.
      assert.deepStrictEqual(
        events.flatMap(({ type }) => (type === "sentence" || type === "looked" ? [type] : [])),
        ["sentence", "looked", "looked"]
      )
      const last = events.at(-1)
      if (last?.type !== "answer") return assert.fail("no answer came")
      const { answer } = last
      assert.deepStrictEqual(yield* Ref.get(asked), [
        "Jan water level of the upper pond 4.20 or 9.99 m?",
        "Jan water level of the upper pond 4.20 or 9.99 m?"
      ])
      assert.strictEqual(answer.figures[0]?.said, said)
      assert.notInclude(answer.answer, "9.99")
      for (const { end, quote, start } of answer.citations) assert.strictEqual(TEXT.slice(start, end), quote)
    }).pipe(withStore)
  )

  it.effect("asks an extractive model only about figures with a word of the question, or named in it", () =>
    Effect.gen(function* () {
      const asked = yield* Ref.make<ReadonlyArray<string>>([])
      const library = yield* pond.pipe(Effect.provide(seeing(asked, "extractive", "Jan 4.20 m")))
      yield* library.ask("假期有多少天？")
      yield* library.ask("Where do storks nest?")
      assert.deepStrictEqual(yield* Ref.get(asked), [])
      yield* library.ask("图3是什么？")
      assert.deepStrictEqual(yield* Ref.get(asked), ["图3是什么？"])
    }).pipe(withStore)
  )

  it.effect("adds the figure that a kept paragraph refers to", () =>
    Effect.gen(function* () {
      const asked = yield* Ref.make<ReadonlyArray<string>>([])
      const library = yield* pond.pipe(Effect.provide(seeing(asked, "generative", SEEN)))
      const question = "What shows how the water level of the upper pond falls until summer?"
      const answer = yield* library.ask(question, { keep: 1 })
      const kept = answer.trace.passages.filter(({ kept }) => kept).map(({ passage }) => passage.text)
      assert.deepStrictEqual(kept, [PROSE])
      assert.deepStrictEqual(
        answer.figures.map(({ figure }) => figure.number),
        ["3"]
      )
      assert.deepStrictEqual(
        answer.citations.map(({ figure, n, quote }) => [n, quote, figure?.number]),
        [
          [1, PROSE, undefined],
          [2, LEVELS.split("\n")[0], "3"]
        ]
      )
    }).pipe(withStore)
  )

  it.effect("answers without a figure that the model could not see, and says why", () =>
    Effect.gen(function* () {
      const blind = Layer.succeed(
        Vision,
        Vision.of({
          model: { id: "test-eye", kind: "generative", maxImages: 2, maxImageBytes: 1e6, formats: ["png"] },
          look: () => {
            const reason = new ServerFailure({ message: "The lens is broken.", status: 500, final: true })
            return Effect.fail(new GatewayError({ operation: "vision", reason }))
          }
        })
      )
      const library = yield* pond.pipe(Effect.provide(blind))
      const answer = yield* library.ask("What shows how the water level of the upper pond falls?")
      assert.isTrue(answer.found)
      assert.isTrue(answer.figures.every(({ failed, said }) => said === "" && failed?.includes("broken")))
      const stage = answer.trace.stages.find(({ stage }) => stage === "look")
      assert.include(stage?.failed ?? "", "broken")
    }).pipe(withStore)
  )

  it.effect("asks no model if the program has no vision model", () =>
    Effect.gen(function* () {
      const answer = yield* (yield* pond).ask("What shows how the water level of the upper pond falls?")
      assert.isTrue(answer.found)
      assert.deepStrictEqual([answer.figures, answer.trace.visionModel], [[], undefined])
    }).pipe(withStore)
  )
})
