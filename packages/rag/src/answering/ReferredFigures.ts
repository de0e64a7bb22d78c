/** The figures that a question, or the passages kept for it, refer to. */
import { Effect } from "effect"
import type { StoredPassage } from "../document/Document.ts"
import { referenceKey, referencesIn } from "../formats/parsing/Mentions.ts"
import type { Collection } from "../store/PassageIndex.ts"
import type { RagError } from "../document/RagError.ts"

/** The maximum of figures that are added. More passages make the answer harder to find. */
const MAX_FIGURES = 2

/**
 * Figures that were not kept, in the document of a kept passage that refers to them. Those that the question names come
 * first. A document's passages are read only if something refers to its figures.
 */
export const referredFigures = Effect.fn("ReferredFigures.find")(function* (
  question: string,
  kept: ReadonlyArray<StoredPassage>,
  collection: Effect.Effect<Collection, RagError>
) {
  const inQuestion = referencesIn(question)
  const wanted = new Map<string, Set<string>>()
  for (const { document, figure, text } of kept) {
    const inText = figure === undefined ? referencesIn(text) : new Set<string>()
    if (inQuestion.size + inText.size > 0)
      wanted.set(document.id, new Set([...(wanted.get(document.id) ?? inQuestion), ...inText]))
  }
  if (wanted.size === 0) return []
  const from = yield* collection
  const found: Array<StoredPassage> = []
  for (const [document, references] of wanted) {
    const passages = yield* from.passages(document)
    for (const reference of references) {
      const figure = passages.find((passage) => isReferred(passage, reference))
      const known = [...kept, ...found].some(({ id }) => id === figure?.id)
      if (figure !== undefined && !known && found.length < MAX_FIGURES) found.push(figure)
    }
  }
  return found
})

/** Whether a passage is the figure of a reference. */
export const isReferred = ({ figure }: StoredPassage, reference: string): boolean =>
  figure !== undefined && referenceKey(figure.kind, figure.number, figure.caption) === reference
