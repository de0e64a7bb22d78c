/** The figures that a question, or the passages kept for it, refer to. */
import { Effect } from "effect"
import type { StoredPassage } from "../document/Document.ts"
import { referenceKey, referencesIn } from "../formats/parsing/Mentions.ts"
import type { Collection } from "../store/PassageIndex.ts"
import type { RagError } from "../document/RagError.ts"

/** So many more are read at most: each is a passage more among which to find the answer. */
const REFERRED = 2

/**
 * Passages of figures that were not kept, of the same document as a kept passage that refers to them; first those that
 * the question names. A document's passages are only looked through when something refers to its figures.
 */
export const referredFigures = Effect.fn("ReferredFigures.find")(function* (
  question: string,
  kept: ReadonlyArray<StoredPassage>,
  collection: Effect.Effect<Collection, RagError>
) {
  const asked = referencesIn(question)
  const wanted = new Map<string, Set<string>>()
  for (const { document, figure, text } of kept) {
    const said = figure === undefined ? referencesIn(text) : new Set<string>()
    if (asked.size + said.size > 0)
      wanted.set(document.id, new Set([...(wanted.get(document.id) ?? asked), ...said]))
  }
  if (wanted.size === 0) return []
  const from = yield* collection
  const found: Array<StoredPassage> = []
  for (const [document, references] of wanted) {
    const passages = yield* from.passages(document)
    for (const reference of references) {
      const figure = passages.find((passage) => isReferred(passage, reference))
      const known = [...kept, ...found].some(({ id }) => id === figure?.id)
      if (figure !== undefined && !known && found.length < REFERRED) found.push(figure)
    }
  }
  return found
})

/** Whether a passage is the figure that a reference means. */
export const isReferred = ({ figure }: StoredPassage, reference: string): boolean =>
  figure !== undefined && referenceKey(figure.kind, figure.number, figure.caption) === reference
