/** Stage 4: the candidates, with a limit of duplicates of each text. */
import { Effect, Struct } from "effect"
import type { StoredPassage } from "../../document/Document.ts"
import { type CompareTexts, compareTexts } from "./Duplicates.ts"
import { fuse } from "./Fuse.ts"
import { searchIndex } from "./Recall.ts"
import type {
  Duplicates,
  FusedHit,
  Place,
  RankedPassage,
  RetrievalState,
  RetrievalStage
} from "./RetrievalStage.ts"

/** The maximum of candidates with one text. The two or three duplicates that manuals have are all reranked. */
const MAX_DUPLICATES = 5

/** Characters at both ends of a text. Only texts with the same characters at one end are compared. */
const END_CHARACTERS = 32

/** The limit of the second search, if duplicates leave fewer candidates than are recalled. */
const LIMIT_BEHIND_DUPLICATES = 1_000

/** The maximum of kept passages with nearly the same text: two rules may differ in one word. */
const MAX_ALIKE_KEPT = 2

/** The maximum of places in `alsoAt`. */
export const ALSO_AT = 100

/** The candidates of a fused list, best first, and the duplicates that were dropped. */
interface CappedDuplicates extends Omit<Duplicates, keyof CompareTexts> {
  readonly fused: ReadonlyArray<FusedHit>
}

/**
 * The first `candidates` hits of a fused list, with at most `MAX_DUPLICATES` of each text, or fewer, so that there are
 * twice as many different texts as are kept.
 */
const capDuplicates = (
  { alike, same }: CompareTexts,
  all: ReadonlyArray<FusedHit>,
  { candidates, keep }: { readonly candidates: number; readonly keep: number }
): CappedDuplicates => {
  const most = Math.max(1, Math.min(MAX_DUPLICATES, Math.floor(candidates / (2 * keep))))
  const fused: Array<FusedHit> = []
  const firstOf = new Map<string, string>()
  const dropped: Array<Duplicates["dropped"][number]> = []
  const counts = new Map<string, { readonly alike: number; readonly same: number }>()
  const byEnds = new Map<string, Array<StoredPassage>>()
  for (const one of all) {
    if (fused.length === candidates) break
    const { passage } = one.hit
    const { text } = passage
    const ends = [`^${text.slice(0, END_CHARACTERS)}`, `${text.slice(-END_CHARACTERS)}$`]
    const known = ends.flatMap((end) => byEnds.get(end) ?? []).find((other) => alike(other, passage))
    const first = known?.id ?? passage.id
    const count = counts.get(first) ?? { alike: 0, same: 0 }
    // If three or more are allowed, the last is reserved for a text that states something else.
    const states = known === undefined || (most > 2 && same(known, passage)) ? 1 : 0
    if (count.alike === most || (most > 2 && states === 1 && count.same === most - 1)) {
      dropped.push({ passage, first })
      continue
    }
    counts.set(first, { alike: count.alike + 1, same: count.same + states })
    if (known === undefined) for (const end of ends) byEnds.set(end, [...(byEnds.get(end) ?? []), passage])
    fused.push(one)
    firstOf.set(passage.id, first)
  }
  return { fused, firstOf, dropped }
}

/** How many of the first candidates are recalled. A duplicate of an earlier one does not count. */
export const countRecalled = (
  candidates: ReadonlyArray<RankedPassage>,
  { firstOf }: Pick<Duplicates, "firstOf">,
  recall: number
): number => {
  const seen = new Set<string>()
  const end = candidates.findIndex(
    ({ hit: { passage } }) => seen.add(firstOf.get(passage.id) ?? passage.id).size > recall
  )
  return end === -1 ? candidates.length : end
}

/** The kept passage of which this one is a duplicate: it states the same, or `MAX_ALIKE_KEPT` are nearly equal. */
export const duplicateAmong = (
  { alike, same }: CompareTexts,
  kept: ReadonlyArray<RankedPassage>,
  { hit: { passage } }: RankedPassage
): RankedPassage | undefined => {
  const near = kept.filter(({ hit }) => alike(hit.passage, passage))
  return (
    near.find(({ hit }) => same(hit.passage, passage)) ?? (near.length < MAX_ALIKE_KEPT ? undefined : near[0])
  )
}

/** The other places of a kept passage's text, among the candidates and the dropped duplicates. */
export const otherPlaces = (
  { dropped, firstOf, same }: Duplicates,
  candidates: ReadonlyArray<RankedPassage>,
  kept: StoredPassage
): ReadonlyArray<Place> =>
  [
    ...candidates.filter(({ sameAs }) => sameAs === kept.id).map(({ hit }) => hit.passage),
    ...dropped
      .values()
      .filter(({ first, passage }) => first === firstOf.get(kept.id) && same(kept, passage))
      .take(ALSO_AT)
      .map(({ passage }) => passage)
  ]
    .slice(0, ALSO_AT)
    .map(Struct.pick(["id", "document", "headings", "start", "end", "page"]))

const run = Effect.fnUntraced(function* (state: RetrievalState) {
  const { options, question } = state
  const compare = compareTexts(question)
  let { fused } = state
  let capped = capDuplicates(compare, fused, options)
  const isShort = capped.dropped.length > 0 && capped.fused.length < options.recall
  if (isShort && fused.length >= options.perRetrieverLimit) {
    fused = fuse(options.fusion, yield* searchIndex(state, LIMIT_BEHIND_DUPLICATES))
    capped = capDuplicates(compare, fused, options)
  }
  // A dropped duplicate keeps its rank in the fused list.
  const ranks = new Map(fused.map(({ hit }, i) => [hit.passage.id, i + 1]))
  const candidates = capped.fused.map(({ hit, score }, i): RankedPassage => ({
    hit,
    recallRank: ranks.get(hit.passage.id)!,
    recallScore: score,
    rerankRank: i + 1
  }))
  return { fused, candidates, duplicates: { ...compare, ...capped } }
})

/** Chooses the candidates, and searches deeper if duplicates leave too few. */
export const dedupeStage: RetrievalStage = {
  name: "dedupe",
  run,
  explain: ({ candidates, duplicates, fused }, { passage }) => {
    const copy = duplicates.dropped.find((one) => one.passage.id === passage.id)
    if (copy !== undefined)
      return {
        outcome: "same",
        sentence: `Not reranked: ${copy.first} has the same text, or nearly the same.`
      }
    const rank = fused.findIndex(({ hit }) => hit.passage.id === passage.id) + 1
    if (rank === 0 || candidates.some(({ hit }) => hit.passage.id === passage.id)) return {}
    return {
      outcome: "not recalled",
      sentence: `Not recalled: rank ${rank} of the fused list, of which ${candidates.length} were reranked.`
    }
  }
}
