/** The texts by which passages are found: parts of identifiers, text about figures. */
import { assert, describe, it } from "@effect/vitest"
import type { Figure, Parsed } from "@sluice/rag/formats"
import {
  embeddedText,
  mentionsOf,
  rankedText,
  searchText,
  searchWords,
  titleOf
} from "../../packages/rag/src/document/SearchText.ts"

/** The search text beyond the text itself. */
const added = (text: string) => {
  assert.isTrue(searchText(text).startsWith(text), "the text itself stays as it is")
  return searchText(text).slice(text.length).trim()
}

describe("search text", () => {
  it("has identifiers and their parts", () => {
    assert.strictEqual(added("parseHTTPHeader fails with ERR_1042."), "parse HTTP Header ERR 1042")
    assert.strictEqual(
      added("Effect.retry(x) ends utf8Array, $scope and _private"),
      "Effect retry utf8 Array scope private"
    )
    assert.strictEqual(added("getX getX getX"), "get X", "each once")
    assert.strictEqual(
      searchWords("Why does parseHTTPHeader fail?"),
      "Why does parseHTTPHeader fail?\nparse HTTP Header"
    )
    assert.deepStrictEqual(searchWords("Wo wird die Pumpe geschmiert?").match(/\p{L}+/gu), [
      "Pumpe",
      "geschmiert"
    ])
  })

  it("leaves prose, numbers and other scripts unchanged", () => {
    for (const text of [
      "Plain words. A 3D scan of NASA's PDFs, version 1.2.3 of 2024.",
      "水位在每天七点测量。",
      "Ünïcode Straße",
      ""
    ]) {
      assert.strictEqual(added(text), "")
    }
  })

  it("takes linear time for hostile names", () => {
    for (const part of ["a_", "aA", "a.", "A", "_", "$.", "aaaa"]) {
      const text = part.repeat(100_000)
      assert.strictEqual(added(text), "", "a name of that length is none")
    }
    assert.isBelow(searchWords("parseIt ".repeat(10_000)).length, 5_000)
  })

  it("has the title and headings before the passage, and text about its figure after it", () => {
    const passage = {
      ordinal: 0,
      start: 0,
      end: 9,
      text: "Figure 1.",
      headings: ["Guide", "Gates"],
      lines: []
    }
    assert.strictEqual(titleOf("Guide", passage.headings), "Guide > Gates")
    assert.strictEqual(embeddedText("Manual", passage), "Manual > Guide > Gates\nFigure 1.")
    const text = `Figure 1. ${"The lower gate opens first, see Fig. 1. ".repeat(40)}`
    const parsed: Parsed = {
      format: "text",
      title: "Manual",
      text,
      blocks: [],
      pages: [],
      lines: [],
      figures: [],
      faults: []
    }
    const figure: Figure = {
      kind: "figure",
      start: 0,
      end: 9,
      mentions: [
        { start: 10, end: 49 },
        { start: 50, end: text.length }
      ]
    }
    const said = mentionsOf(parsed, figure)
    assert.isTrue(said.startsWith("The lower gate opens first, see Fig. 1.\nThe lower"))
    assert.isAtMost(said.length, 600)
    const told = { ...passage, figure: { kind: "figure", caption: "Figure 1.", said } } as const
    assert.strictEqual(rankedText(told), `Figure 1.\n${said}`)
    assert.strictEqual(embeddedText("Manual", told), `Manual > Guide > Gates\nFigure 1.\n${said}`)
    assert.strictEqual(mentionsOf(parsed, { ...figure, mentions: [] }), "")
  })
})
