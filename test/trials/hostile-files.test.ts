/** Files that are made to take much time, memory or disk. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chunk } from "../../packages/rag/src/chunking/Chunker.ts"
import {
  type ChunkedPassage,
  chunkInThread,
  type PassagePortion
} from "../../packages/rag/src/chunking/ChunkedParse.ts"
import { parse, parseAndChunk } from "../../packages/rag/src/formats/ParsedFile.ts"
import { labelOf } from "../../packages/rag/src/formats/parsing/Label.ts"
import { captionStart } from "../../packages/rag/src/formats/parsing/CaptionStart.ts"

const file = (path: string, text: string) => ({ path, bytes: new TextEncoder().encode(text) })

describe("the time to find labels", () => {
  it("does not grow with the spaces after a label", () => {
    const text = `Figure 1 ${" ".repeat(200_000)}x`
    const started = process.cpuUsage()
    labelOf(text, true)
    captionStart(text)
    assert.isBelow(process.cpuUsage(started).user, 1e6)
  })
})

it.live.each([
  ["parsed", parse],
  ["parsed and chunked", parseAndChunk]
] as const)("a file above 8 KiB leaves the calling thread free while it is %s", ([, read]) =>
  Effect.gen(function* () {
    let turns = 0
    let ended = false
    const nextTurn = () => {
      turns++
      if (!ended) setImmediate(nextTurn)
    }
    setImmediate(nextTurn)
    yield* read(file("a.md", "# Gate\n\nThe gate opens at eight.\n\n".repeat(300)))
    ended = true
    assert.isAbove(turns, 20)
  })
)

it.live("a thread sends the passages of a file in portions, and nothing is lost", () =>
  Effect.gen(function* () {
    const body = "The gate opens at eight and its keeper says so. ".repeat(20)
    const text = Array.from({ length: 1_000 }, (_, i) => `## Gate ${i}\n\n${body}\n\n`).join("")
    const parsed = yield* parse(file("a.md", text))
    const sizes: Array<number> = []
    const sent: Array<ChunkedPassage> = []
    const ask = (question: unknown): Promise<never> => {
      const { passages } = question as PassagePortion
      sizes.push(passages.length)
      sent.push(...passages)
      return Promise.resolve(undefined as never)
    }
    const { value } = yield* Effect.promise(() =>
      chunkInThread({ parsed, stores: "crops" }, { ask, progress: () => {} })
    )
    assert.isAbove(sent.length, 500)
    assert.isAtMost(Math.max(...sizes), 500)
    assert.deepStrictEqual("passages" in value && value.passages, [])
    const { passages } = yield* parseAndChunk(file("a.md", text))
    assert.deepStrictEqual(passages, sent)
  })
)

it.live("a thread sends few passages at once if they have many locators", () =>
  Effect.gen(function* () {
    const cues = Array.from(
      { length: 60_000 },
      (_, i) => `${i}\n00:00:01,000 --> 00:00:02,000\na ${i}\n`
    ).join("\n")
    const parsed = yield* parse(file("a.srt", cues))
    const sent: Array<number> = []
    const ask = (question: unknown): Promise<never> => {
      const { passages } = question as PassagePortion
      sent.push(passages.reduce((sum, { passage }) => sum + (passage.locators?.length ?? 0), 0))
      return Promise.resolve(undefined as never)
    }
    yield* Effect.promise(() => chunkInThread({ parsed, stores: "crops" }, { ask, progress: () => {} }))
    assert.isAtLeast(
      sent.reduce((sum, count) => sum + count, 0),
      60_000
    )
    assert.isAtMost(Math.max(...sent), 27_000)
  })
)

describe("what a passage copies", () => {
  const bodies = "## Part\n\nThe gate is open.\n\n".repeat(50)

  it.effect("is at most 300 characters of a heading", () =>
    Effect.gen(function* () {
      const parsed = yield* parse(file("a.md", `# ${".".repeat(100_000)}\n\n${bodies}`))
      assert.strictEqual(parsed.title.length, 300)
      for (const { headings } of chunk(parsed)) {
        assert.isAtMost(Math.max(...headings.map((heading) => heading.length)), 300)
      }
    })
  )

  it.effect("is at most 300 characters of a title", () =>
    Effect.gen(function* () {
      const html = `<title>${"a ".repeat(100_000)}</title>${"<h2>Part</h2><p>Open.".repeat(50)}`
      const { passages, title } = yield* parseAndChunk(file("a.html", html))
      assert.strictEqual(title.length, 300)
      for (const { text } of passages) assert.isBelow(text.length, 3_000)
    })
  )

  it.effect("is at most 300 characters of a caption", () =>
    Effect.gen(function* () {
      const rows = "| Part | 12 |\n".repeat(500)
      const text = `Table 1: ${"gate ".repeat(20_000)}\n\n| a | b |\n|---|---|\n${rows}`
      const { passages } = yield* parseAndChunk(file("a.md", text))
      const captions = passages.map(({ passage }) => passage.figure?.caption.length ?? 0)
      assert.strictEqual(Math.max(...captions), 300)
      for (const { text } of passages) assert.isBelow(text.length, 3_000)
    })
  )
})

describe("a file with too many parts is rejected, and the message names the limit:", () => {
  it.effect("passages for its size", () =>
    Effect.gen(function* () {
      const html = '<img src="a.png" alt="b">'.repeat(16_000)
      const error = yield* Effect.flip(parseAndChunk(file("a.html", html)))
      assert.strictEqual(error.reason, "TooLarge")
      assert.match(error.message, /^a\.html: the file has 16000 passages; the limit .* is 1000\./)
    })
  )

  it.effect("blocks", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(parse(file("a.txt", "a\n\n".repeat(500_001))))
      assert.strictEqual(error.reason, "TooLarge")
      assert.match(error.message, /500001 blocks .* limit is 500000/)
    })
  )

  it.effect("paragraphs and items of a Markdown file", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(parse(file("a.md", "***\n".repeat(1_000_001))))
      assert.strictEqual(error.reason, "TooLarge")
      assert.match(error.message, /^a\.md: it has more than 1,000,000 paragraphs and items\./)
    })
  )

  it.effect("rows of a CSV file", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(parse(file("a.csv", "1,2\n".repeat(2_000_000))))
      assert.strictEqual(error.reason, "TooLarge")
      assert.match(error.message, /^a\.csv: the file has more than 1,048,576 rows/)
    })
  )
})
