/** One text that stands in many places must not take all of them: the others would not even be looked at. */
import type { StoredPassage } from "../document/Document.ts"
import type { Copies } from "./Duplicates.ts"
import type { Fused } from "./Fusion.ts"

/** Copies of a text that the reranker chooses from. Two or three of each, as manuals have them, all stay. */
const COPIES = 5

/** Passages that say the same begin, or end, with the same characters: the rest need not be compared. */
const ALIKE = 32

/** What is looked at, best first, and what is not, for it is a copy. */
export interface Uncrowded {
  readonly fused: ReadonlyArray<Fused>
  /** For each of `fused` the first one that is alike: usually itself. */
  readonly texts: ReadonlyArray<number>
  /** Those left out, as far down as was looked, and which of `fused` is alike. */
  readonly copies: ReadonlyArray<{ readonly passage: StoredPassage; readonly text: number }>
}

/**
 * The first `candidates` of a fused list, without what stands among them too often already: so that there are twice as
 * many texts as are kept, where so many were found.
 */
export const uncrowded = (
  { alike, same }: Copies,
  all: ReadonlyArray<Fused>,
  { candidates, keep }: { readonly candidates: number; readonly keep: number }
): Uncrowded => {
  const most = Math.max(1, Math.min(COPIES, Math.floor(candidates / (2 * keep))))
  const fused: Array<Fused> = []
  const texts: Array<number> = []
  const copies: Array<Uncrowded["copies"][number]> = []
  const counts = new Map<number, { readonly alike: number; readonly same: number }>()
  const byEnds = new Map<string, Array<number>>()
  for (const one of all) {
    if (fused.length === candidates) break
    const { passage } = one.hit
    const ends = [`^${passage.text.slice(0, ALIKE)}`, `${passage.text.slice(-ALIKE)}$`]
    const known = ends
      .flatMap((end) => byEnds.get(end) ?? [])
      .find((text) => alike(fused[text]!.hit.passage, passage))
    const text = known ?? fused.length
    const count = counts.get(text) ?? { alike: 0, same: 0 }
    // The last of three or more places is for one that says something else.
    const says = known === undefined || (most > 2 && same(fused[known]!.hit.passage, passage)) ? 1 : 0
    if (count.alike === most || (most > 2 && says === 1 && count.same === most - 1)) {
      copies.push({ passage, text })
      continue
    }
    counts.set(text, { alike: count.alike + 1, same: count.same + says })
    if (known === undefined) for (const end of ends) byEnds.set(end, [...(byEnds.get(end) ?? []), text])
    fused.push(one)
    texts.push(text)
  }
  return { fused, texts, copies }
}

/** How many of the first are recalled: what is alike to one before it does not count. */
export const recalledOf = (
  order: ReadonlyArray<number>,
  texts: ReadonlyArray<number>,
  recall: number
): number => {
  const seen = new Set<number>()
  const end = order.findIndex((place) => seen.add(texts[place]!).size > recall)
  return end === -1 ? order.length : end
}
