import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import { type Term, termOfWord } from "../../packages/embedded/src/text/Term.ts"
import { similarityIndex } from "../../packages/embedded/src/text/trigrams.ts"

const trigramsOf = ({ key }: Term) => new Set(Array.from(key, (_, i) => `^${key}$`.slice(i, i + 3)))

/** Dice coefficient. */
const similarity = (a: Term, b: Term) => {
  const [left, right] = [trigramsOf(a), trigramsOf(b)]
  return (2 * left.intersection(right).size) / (left.size + right.size)
}

const letters = Schema.NonEmptyArray(Schema.Literals([..."aeinorst"]))

it.prop(
  "similarityIndex finds what comparing each pair of words finds",
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
