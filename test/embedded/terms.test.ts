/** A word is looked up where it stands; it must be the word that it is when cut out. */
import { expect, it } from "vitest"
import { termOfWord } from "../../packages/embedded/src/text/Term.ts"
import { termsOf } from "../../packages/embedded/src/text/termsOf.ts"

it("finds one term for a word, wherever it stands and however it is written, among many", () => {
  const words = Array.from({ length: 20_000 }, (_, i) => `q${i.toString(36).replace(/\d/g, "x")}z${i}`)
  const known = words.map(termOfWord)
  expect(new Set(known).size).toBe(new Set(known.map(({ key }) => key)).size)
  words.forEach((word, i) => {
    for (const text of [`a ${word}.`, `${word.toUpperCase()}`]) {
      expect(termsOf(text).at(-1), text).toBe(known[i])
    }
  })
  expect(termsOf("É é ÉCOLE École école ÉÉ").map(({ key }) => key)).toEqual([
    "e",
    "e",
    "ecol",
    "ecol",
    "ecol",
    "ee"
  ])
  // Half characters have no case here.
  expect(termsOf("𐐀 𐐀").map(({ key }) => key)).toEqual(["𐐀", "𐐀"])
})
