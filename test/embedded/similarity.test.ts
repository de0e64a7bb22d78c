/** Looking trigrams up among many words gives what comparing two words at a time gives. */
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import { likesOf, similarity } from "../../packages/embedded/src/text/similarity.ts"
import { termOfWord } from "../../packages/embedded/src/text/Term.ts"

const letters = Schema.NonEmptyArray(Schema.Literals([..."aeinorst"]))

it.prop("likesOf finds the words that similarity says", [letters, letters, letters], ([stem, a, b]) => {
  const words = [a, b, stem, [...stem, ...b]].map((word) => termOfWord(word.join("")))
  const other = termOfWord([...stem, ...a].join(""))
  const all = words.map((word, place) => ({ place, value: similarity(word, other) }))
  for (const least of [0.01, 0.5]) {
    const likes = likesOf(words, least)
    const found = (likes(other) ?? []).toSorted((x, y) => x.place - y.place)
    assert.deepStrictEqual(
      found,
      all.filter(({ value }) => value >= least)
    )
    assert.strictEqual(likes(other)?.length, found.length || undefined)
  }
})
