/** Passages are found small and given with their section. */
import type { StoredPassage } from "../document/Document.ts"

/** A section is given up to so many characters, the found passage included. */
const SECTION_CHARACTERS = 6_000

/**
 * The passage and its neighbours under the same headings, in order: one after it, one before it, in turns, as far as
 * `SECTION_CHARACTERS` reach.
 *
 * **Details.** `passages` are those of its document, in order. A passage alone longer than that is given all the same; one
 * that is not among them, for the document was replaced meanwhile, by itself.
 */
export const sectionOf = (
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

/** What is read for an answer: the kept passages, best first, then the rest of their sections; each passage once. */
export const withSections = (
  kept: ReadonlyArray<StoredPassage & { readonly section?: ReadonlyArray<StoredPassage> }>
): ReadonlyArray<StoredPassage> => {
  const read = new Map<string, StoredPassage>()
  for (const passage of [...kept, ...kept.flatMap(({ section = [] }) => section)])
    if (!read.has(passage.id)) read.set(passage.id, passage)
  return [...read.values()]
}
