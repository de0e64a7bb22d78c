/** The bound that spares comparisons must never be below what it bounds. */
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import { similarity, similarityAtMost } from "../../packages/embedded/src/similarity.ts"
import { termOfWord } from "../../packages/embedded/src/text/Term.ts"

const letters = Schema.NonEmptyArray(Schema.Literals([..."aeinorst"]))

it.prop("similarityAtMost is never below similarity", [letters, letters, letters], ([stem, a, b]) => {
  const [x, y] = [termOfWord([...stem, ...a].join("")), termOfWord([...stem, ...b].join(""))]
  assert.isAtLeast(similarityAtMost(x, y), similarity(x, y))
  assert.isAtLeast(similarityAtMost(x, x), 1)
})
