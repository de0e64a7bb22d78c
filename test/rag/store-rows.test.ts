/** Rows of passages whose JSON has a flipped bit. */
import { assert, it } from "@effect/vitest"
import { lanceRows, toBatches, toPassage } from "../../packages/rag/src/store/lance/LanceRows.ts"
import { documentOf, MANIFEST } from "./StoredDocuments.ts"

it("a damaged row is left out, or has all fields of a passage", () => {
  const document = documentOf("pond.md", ["the heron stands in the pond"], { kinds: ["figure"] })
  const [batch] = toBatches(lanceRows([document]), MANIFEST.dimension)
  const json = Buffer.from(batch?.getChild("passage")?.get(1))
  assert.isDefined(toPassage(json.toString()))
  let left = 0
  for (let bit = 0; bit < json.length * 8; bit++) {
    const flipped = Buffer.from(json)
    flipped[bit >> 3]! ^= 1 << (bit & 7)
    const passage = toPassage(flipped.toString())
    if (passage === undefined) continue
    left++
    const { document, end, figure, headings, id, lines, ordinal, start, text } = passage
    const texts = [document.id, document.path, document.title, document.format, id, text]
    if (figure !== undefined) texts.push(figure.kind, figure.caption)
    assert.isTrue(texts.every((value) => typeof value === "string") && !id.includes("undefined"), `${bit}`)
    assert.isTrue([end, ordinal, start].every(Number.isInteger), `${bit}`)
    assert.isTrue(Array.isArray(headings) && Array.isArray(lines), `${bit}`)
  }
  // Of the passage's text, each letter.
  assert.isAbove(left, 100)
})
