/** Front matter is searched, and never quoted. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chunk } from "../../packages/rag/src/chunking/Chunker.ts"
import { parseMarkdown } from "../../packages/rag/src/formats/markdown/Markdown.ts"
import { embeddedText } from "../../packages/rag/src/document/SearchText.ts"
import { modelsLayer } from "./Models.ts"
import { library, pathsOf } from "./SmallLibrary.ts"

const NOTE =
  '---\ntitle: "Stripes"\ntags: [zebra]\nauthor: Quagga\n---\n\n# Coats\n\nMost coats are plain.\n\n# Hooves\n\nAll are hard.\n'

describe("the front matter of Markdown", () => {
  it("is searched with the first passage, and is in no passage's text", () => {
    const parsed = parseMarkdown(NOTE)
    const passages = chunk(parsed)
    assert.deepStrictEqual(
      passages.map(({ about, text }) => [text, about]),
      [
        ["# Coats\n\nMost coats are plain.", "tags: [zebra]\nauthor: Quagga"],
        ["# Hooves\n\nAll are hard.", undefined]
      ]
    )
    assert.strictEqual(
      embeddedText(parsed.title, passages[0]!),
      "Stripes > Coats\n# Coats\n\nMost coats are plain.\ntags: [zebra]\nauthor: Quagga"
    )
    for (const text of ["---\ntitle: Stripes\r\n---\n\nMost.", "Most.", "---\n---\n\nMost."])
      assert.isFalse("about" in parseMarkdown(text))
  })

  it.effect("is found by keywords", () =>
    Effect.gen(function* () {
      const opened = yield* library({ "note.md": NOTE, "other.md": "# Coats\n\nA coat is worn in winter." })
      for (const question of ["Quagga", "zebra"]) {
        const found = yield* opened.retrieve(question, { keep: 1 })
        assert.deepStrictEqual(pathsOf(found), ["note.md"])
        assert.strictEqual(found.trace.passages[0]?.keywordRank, 1)
        assert.strictEqual(found.kept[0]?.about, "tags: [zebra]\nauthor: Quagga")
      }
    }).pipe(Effect.provide(modelsLayer), Effect.scoped)
  )
})
