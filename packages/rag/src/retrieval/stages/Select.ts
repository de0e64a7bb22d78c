/** Stage 6: the best passages, each text once. */
import { Effect, Schema } from "effect"
import { countRecalled, duplicateAmong, otherPlaces } from "./Dedupe.ts"
import type { CompareTexts } from "./Duplicates.ts"
import { countOption, stageOption } from "./RetrieveOptions.ts"
import type {
  ExplainedPassage,
  KeptPassage,
  RankedPassage,
  RetrievalState,
  RetrievalStage,
  StageExplanation
} from "./RetrievalStage.ts"

interface Selection {
  /** Best first. */
  readonly kept: ReadonlyArray<RankedPassage>
  /** The kept passage of each duplicate; both by identifier. */
  readonly sameAs: ReadonlyMap<string, string>
}

/**
 * The best `keep` of the passages, which are ordered best first.
 *
 * **Details.** With `diversity` d the next passage is the one with the highest (1 - d) · relevance - d · cosine to the most
 * similar kept passage. Relevance is scaled to 0–1. Without relevance the rank counts. The best passage is always kept.
 */
const topK = (
  compare: CompareTexts,
  passages: ReadonlyArray<RankedPassage>,
  {
    diversity,
    keep,
    minimumRelevance: least
  }: Pick<RetrievalState["options"], "diversity" | "keep" | "minimumRelevance">
): Selection => {
  const relevance = scaledRelevance(passages)
  const rest = new Set(passages.filter((passage) => !isBelow(passage, least)))
  const kept: Array<RankedPassage> = []
  while (kept.length < keep && rest.size > 0) {
    const next = diversity > 0 ? mostDiverse(relevance, rest, kept, diversity) : first(rest)
    rest.delete(next)
    if (duplicateAmong(compare, kept, next) === undefined) kept.push(next)
  }
  const sameAs = new Map<string, string>()
  for (const passage of passages) {
    const one = kept.includes(passage) ? undefined : duplicateAmong(compare, kept, passage)
    if (one !== undefined) sameAs.set(passage.hit.passage.id, one.hit.passage.id)
  }
  return { kept, sameAs }
}

/** Whether a passage has a rerank score below the minimum. One without a score is not below it: the reranker was late. */
export const isBelow = (
  { rerankScore }: Pick<RankedPassage, "rerankScore">,
  least: number | undefined
): boolean => least !== undefined && rerankScore !== undefined && rerankScore < least

const first = (rest: ReadonlySet<RankedPassage>): RankedPassage => rest.values().next().value!

const scaledRelevance = (passages: ReadonlyArray<RankedPassage>): ReadonlyMap<RankedPassage, number> => {
  const values = passages.flatMap(({ relevance }) => relevance ?? [])
  const least = Math.min(...values)
  const spread = Math.max(...values) - least
  const isComplete = values.length === passages.length && spread > 0
  return new Map(
    passages.map((passage, i) => [
      passage,
      isComplete ? (passage.relevance! - least) / spread : 1 - i / passages.length
    ])
  )
}

const mostDiverse = (
  relevance: ReadonlyMap<RankedPassage, number>,
  rest: ReadonlySet<RankedPassage>,
  kept: ReadonlyArray<RankedPassage>,
  diversity: number
): RankedPassage => {
  let best = first(rest)
  if (kept.length === 0) return best
  let most = Number.NEGATIVE_INFINITY
  for (const one of rest) {
    const nearest = Math.max(...kept.map((other) => cosine(one.hit.vector, other.hit.vector)))
    const value = (1 - diversity) * (relevance.get(one) ?? 0) - diversity * nearest
    if (value > most) [best, most] = [one, value]
  }
  return best
}

/** The cosine of two vectors of norm 1; 0 if one is missing. */
const cosine = (a: Float32Array | undefined, b: Float32Array | undefined): number =>
  a === undefined || b === undefined ? 0 : a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)

/**
 * The best `keep`, then in turn the next that the questions before have found and the next of the reranked list: the reranker
 * knows nothing of the questions before.
 */
const inTurn = (
  reranked: ReadonlyArray<RankedPassage>,
  afterPrevious: ReadonlyArray<string>,
  keep: number
): ReadonlyArray<RankedPassage> => {
  const byId = new Map(reranked.map((one) => [one.hit.passage.id, one]))
  const found = afterPrevious.flatMap((id) => byId.get(id) ?? [])
  const rest = reranked.slice(keep)
  const turns = rest.flatMap((one, i) => [...found.slice(i, i + 1), one])
  return [...new Set([...reranked.slice(0, keep), ...turns])]
}

/** Selects the passages to keep, and names the places of their duplicates. */
const selectPassages = ({
  afterPrevious,
  candidates: reranked,
  duplicates,
  options
}: Pick<RetrievalState, "afterPrevious" | "candidates" | "duplicates" | "options">) => {
  const ranked = inTurn(reranked, afterPrevious, options.keep)
  const recalled = countRecalled(ranked, duplicates, options.recall)
  const isRecalled = new Set(ranked.slice(0, recalled))
  const { kept, sameAs } = topK(
    duplicates,
    reranked.filter((one) => isRecalled.has(one)),
    options
  )
  const candidates = ranked.map((one, i): RankedPassage => {
    const same = sameAs.get(one.hit.passage.id)
    return {
      ...one,
      ...(afterPrevious.length > 0 && { rerankRank: i + 1 }),
      ...(same !== undefined && { sameAs: same })
    }
  })
  const inFusedOrder = candidates.toSorted((a, b) => a.recallRank - b.recallRank)
  return {
    candidates,
    recalled,
    kept: kept.map(({ hit: { passage }, recallScore, rerankScore }): KeptPassage => {
      const alsoAt = otherPlaces(duplicates, inFusedOrder, passage)
      return { ...passage, score: rerankScore ?? recallScore, ...(alsoAt.length > 0 && { alsoAt }) }
    })
  }
}

const explain = (
  { candidates, kept, options, recalled }: RetrievalState,
  { passage }: ExplainedPassage
): StageExplanation => {
  if (kept.some(({ id }) => id === passage.id)) return { outcome: "kept", sentence: "Kept." }
  const at = candidates.findIndex(({ hit }) => hit.passage.id === passage.id)
  const found = candidates[at]
  if (found === undefined) return {}
  const { minimumRelevance: least, recall } = options
  if (found.sameAs !== undefined)
    return {
      outcome: "same",
      sentence: `Not kept: ${found.sameAs}, which was kept, has the same text, or nearly the same.`
    }
  if (at >= recalled) {
    const more = recalled > recall ? ` and ${recalled - recall} with nearly the same text` : ""
    return { outcome: "not ranked", sentence: `Not recalled: the first ${recall}${more} were recalled.` }
  }
  return isBelow(found, least)
    ? { outcome: "not relevant", sentence: `Not kept: the minimum relevance is ${least}.` }
    : { outcome: "not kept", sentence: `Not kept: ${kept.length} were kept.` }
}

/** Selects the passages to keep of those recalled. */
export const selectStage: RetrievalStage = {
  name: "select",
  options: {
    keep: countOption,
    minimumRelevance: stageOption(
      Schema.Finite,
      "a number",
      (value) => typeof value === "number" && !Number.isNaN(value)
    ),
    diversity: stageOption(
      Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
      "a number from 0 to 1"
    )
  },
  run: (state) => Effect.sync(() => selectPassages(state)),
  explain
}
