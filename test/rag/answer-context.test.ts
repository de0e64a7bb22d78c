/** What a reader that writes gets to read. */
import { assert, describe, it } from "@effect/vitest"
import { Reader } from "@sluice/core"
import type { ReaderPassage } from "@sluice/core/models"
import { type ContextOptions, Library, type RetrieveOptions } from "@sluice/rag"
import { Effect, Layer, Stream } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { embedderLayer, rerankerLayer } from "./Models.ts"
import { temporaryFolder } from "../demo-server/TestServer.ts"

/** Ten sections of three paragraphs, each long enough to be a passage. */
const HANDBOOK = Array.from({ length: 10 }, (_, section) => {
  const paragraphs = ["first", "second", "third"].map((name) =>
    `The ${name} rule of gate ${section} says what a boat has to do there. `.repeat(14)
  )
  return `## Gate ${section}\n\n${paragraphs.join("\n\n")}`
}).join("\n\n")

const QUESTION = "What does the second rule of gate 4 say?"

/** The passages that the reader gets, and what the answer keeps. */
const passagesRead = Effect.fn(function* (
  context: ContextOptions | undefined,
  options: RetrieveOptions = {},
  kind: "generative" | "extractive" = "generative"
) {
  const folder = yield* temporaryFolder
  mkdirSync(join(folder, "docs"))
  writeFileSync(join(folder, "docs", "handbook.md"), HANDBOOK)
  writeFileSync(join(folder, "docs", "other.md"), "# Other\n\nThe second rule of gate 4 was changed in May.")
  let read: ReadonlyArray<ReaderPassage> = []
  const reader = Layer.succeed(Reader, {
    model: { id: "recording", kind, window: 100_000 },
    read: (_, passages) => {
      read = passages
      const passage = passages.findLastIndex(({ text }) => text.includes("second rule of gate 4 says"))
      const quote = "The second rule of gate 4 says what a boat has to do there."
      return Stream.make({ text: "It says so.", evidence: [{ passage, quote }] })
    }
  })
  return yield* Effect.gen(function* () {
    const library = yield* Library.open(join(folder, "library"), options)
    yield* library.ingest(join(folder, "docs"))
    const answer = yield* library.ask(QUESTION, { context })
    const [citation] = answer.citations
    const { parsed } = yield* library.document(citation?.documentId ?? "")
    assert.strictEqual(parsed.text.slice(citation?.start, citation?.end), citation?.quote)
    return { read, kept: answer.trace.passages.filter(({ kept }) => kept).length }
  }).pipe(Effect.provide(Layer.mergeAll(embedderLayer, rerankerLayer, reader)))
}, Effect.scoped)

const rulesIn = (read: ReadonlyArray<ReaderPassage>) =>
  read.flatMap(({ text }) => [...new Set(text.match(/(?:first|second|third) rule of gate \d/g))])

describe("a reader that writes", () => {
  it.effect("reads up to ten passages and the sections of the three kept, neighbours joined", () =>
    Effect.gen(function* () {
      const { kept, read } = yield* passagesRead(undefined)
      const only = yield* passagesRead({ passages: 3, section: false })
      assert.strictEqual(kept, 3)
      assert.isAbove(rulesIn(read).length, rulesIn(only.read).length)
      const section = read.find(({ text }) => text.includes("second rule of gate 4 says"))
      assert.deepStrictEqual(section && rulesIn([section]), [
        "first rule of gate 4",
        "second rule of gate 4",
        "third rule of gate 4"
      ])
    })
  )

  it.effect("reads a document in its order", () =>
    Effect.gen(function* () {
      const { read } = yield* passagesRead({ passages: 20 })
      const gates = read.flatMap(({ text, title }) =>
        title.startsWith("Other") ? [] : Number(/gate (\d)/.exec(text)?.[1])
      )
      assert.deepStrictEqual(gates, gates.toSorted())
      assert.isAbove(new Set(gates).size, 3)
    })
  )

  it.effect("reads the kept passages alone if the tokens are used up, or the others are irrelevant", () =>
    Effect.gen(function* () {
      const small = yield* passagesRead({ tokens: 1 })
      const only = yield* passagesRead({ passages: 3, section: false })
      assert.deepStrictEqual(small.read, only.read)
      const relevant = yield* passagesRead({ section: false }, { minimumRelevance: 7 })
      assert.isBelow(
        rulesIn(relevant.read).length,
        rulesIn((yield* passagesRead({ section: false })).read).length
      )
    })
  )

  it.effect("has the passages without a score, as retrieval does, if the reranker was late", () =>
    Effect.gen(function* () {
      const late = yield* passagesRead({ section: false }, { deadline: "0 seconds" })
      const minimum = yield* passagesRead({ section: false }, { deadline: "0 seconds", minimumRelevance: 7 })
      assert.isAbove(late.read.length, 3)
      assert.deepStrictEqual(minimum.read, late.read)
    })
  )

  it.effect("is another one than a reader that only quotes, which reads the kept passages", () =>
    Effect.gen(function* () {
      const { kept, read } = yield* passagesRead(undefined, {}, "extractive")
      assert.strictEqual(read.length, kept)
    })
  )
})
