import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import { termOfWord } from "../../packages/embedded/src/text/Term.ts"
import { similarity, similarityIndex } from "../../packages/embedded/src/text/trigrams.ts"

const letters = Schema.NonEmptyArray(Schema.Literals([..."aeinorst"]))

it.prop(
  "similarityIndex finds what comparing each pair by similarity finds",
  [letters, letters, letters],
  ([stem, a, b]) => {
    const words = [a, b, stem, [...stem, ...b]].map((word) => termOfWord(word.join("")))
    const other = termOfWord([...stem, ...a].join(""))
    const all = words.map((word, index) => ({ index, similarity: similarity(word, other) }))
    for (const least of [0.01, 0.5]) {
      const find = similarityIndex(words, least)
      assert.deepStrictEqual(
        find(other).toSorted((x, y) => x.index - y.index),
        all.filter(({ similarity }) => similarity >= least)
      )
    }
  }
)
