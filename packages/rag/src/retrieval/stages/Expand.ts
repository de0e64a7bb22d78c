/** Stage 7: each kept passage with its section. */
import { Effect, Schema } from "effect"
import type { StoredPassage } from "../../document/Document.ts"
import type { Collection } from "../../store/PassageIndex.ts"
import { stageOption } from "./RetrieveOptions.ts"
import type { KeptPassage, RetrievalStage } from "./RetrievalStage.ts"

/** The maximum of characters of a section, the found passage included. */
const SECTION_CHARACTERS = 6_000

/**
 * The passage and its neighbours under the same headings, in order, up to `SECTION_CHARACTERS`. Neighbours after and before
 * it are added alternately.
 *
 * **Details.** `passages` are those of its document, in order. A passage longer than the limit is returned without
 * neighbours, and so is one that is not among them, because its document was replaced during the retrieval.
 */
const sectionOf = (
  found: StoredPassage,
  passages: ReadonlyArray<StoredPassage>
): ReadonlyArray<StoredPassage> => {
  const at = passages.findIndex(({ id, text }) => id === found.id && text === found.text)
  if (at < 0) return [found]
  const path = found.headings.join("\n")
  let from = at
  let to = at
  let size = found.text.length
  const take = (index: number): boolean => {
    const next = passages[index]
    if (next === undefined || next.headings.join("\n") !== path) return false
    if (size + next.text.length > SECTION_CHARACTERS) return false
    size += next.text.length
    return true
  }
  for (let open = true; open;) {
    const after = take(to + 1)
    if (after) to++
    const before = take(from - 1)
    if (before) from--
    open = after || before
  }
  return passages.slice(from, to + 1)
}

/** The section of each passage. The passages of a document are read once. */
export const sectionsOf = Effect.fnUntraced(function* (
  found: ReadonlyArray<StoredPassage>,
  collection: Collection
) {
  const documents = [...new Set(found.map(({ document }) => document.id))]
  const read = yield* Effect.forEach(documents, collection.passages, { concurrency: "unbounded" })
  const passages = new Map(documents.map((id, i) => [id, read[i] ?? []]))
  return found.map((passage) => sectionOf(passage, passages.get(passage.document.id) ?? []))
})

/** Adds sections with `expand: "section"`. */
export const expandStage: RetrievalStage = {
  name: "expand",
  options: { expand: stageOption(Schema.Literals(["section", "none"]), '"section" or "none"') },
  run: Effect.fnUntraced(function* ({ collection, kept, options }) {
    if (options.expand === "none") return undefined
    const sections = yield* sectionsOf(kept, collection)
    return { kept: kept.map((passage, i): KeptPassage => ({ ...passage, section: sections[i]! })) }
  })
}
