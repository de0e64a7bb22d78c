/** Why a document was found for a question, or was not: every stage, and what decided. */
import { Effect } from "effect"
import type { DocumentInfo, StoredPassage } from "../document/Document.ts"
import { type Filter, matches } from "../document/Filter.ts"
import { asks } from "./Fusion.ts"
import type { Collection, Hit } from "../store/PassageIndex.ts"
import { RagError } from "../document/RagError.ts"
import type { RetrieveOptions } from "./RetrieveOptions.ts"
import type { Inspection, Retriever } from "./Retriever.ts"
import { embeddedText, searchText, searchWords } from "../document/SearchText.ts"
import type { TracedPassage } from "./Trace.ts"
import { makeWordsShared, type WordsShared } from "./WordsShared.ts"

/** Ranks of a document's passages are looked for so far down. */
export const WHY_DEPTH = 1_000

/** A place in a list, from 1, and the score that gave it. */
export interface Placed {
  /** Absent where it is not among the first `WHY_DEPTH`. */
  readonly rank?: number
  readonly score?: number
}

/**
 * What became of a passage, from the first stage that decided to the last.
 *
 * - `filtered`: the filter does not let it through.
 * - `not found`: neither way of recall has it among the first `WHY_DEPTH`.
 * - `not recalled`: it stands below those that the reranker looked at.
 * - `not ranked`: the reranker looked at it, and put it below those that are recalled.
 * - `not relevant`: its rerank score is below the least that was asked for.
 * - `same`: it says the same as a kept passage, or nearly, or as others that the reranker looked at in its place.
 * - `not kept`: recalled, and below those that are kept, or too like them where diversity was asked for.
 * - `kept`.
 */
export type Outcome =
  | "filtered"
  | "not found"
  | "not recalled"
  | "not ranked"
  | "not relevant"
  | "same"
  | "not kept"
  | "kept"

/** One passage: its place at every stage that it reached, and what decided. */
export interface PassageWhy {
  readonly passage: StoredPassage
  readonly vector?: Placed
  readonly keywords?: Placed
  readonly fusion?: Placed
  readonly rerank?: Placed
  readonly outcome: Outcome
  /** Words of the question that stand in it, or in its title and headings, and those that do not. */
  readonly shared: ReadonlyArray<string>
  readonly missing: ReadonlyArray<string>
  /** All of that in one sentence. */
  readonly sentence: string
}

/** The passages of a document, best first, and what happened to the best one. */
export interface Why {
  readonly question: string
  readonly document: DocumentInfo
  readonly passages: ReadonlyArray<PassageWhy>
  readonly sentence: string
}

/** Asks once more, as `retrieve` does, and looks further down. Fails with `NotFound` for an unknown document. */
export const makeWhy = (collection: Effect.Effect<Collection, RagError>, retriever: Retriever) =>
  Effect.fn("Library.why")(function* (id: string, question: string, options?: RetrieveOptions) {
    const from = yield* collection
    const stored = yield* from.document(id)
    if (stored === undefined) {
      return yield* new RagError({
        stage: "retrieve",
        reason: "NotFound",
        message: `There is no document ${id} in collection "${from.name}": it was not found because it is not there. Ingest it, or list the documents anew.`,
        document: id
      })
    }
    const seen = yield* retriever.inspect(question, options)
    const { filter, fusion } = seen.plan
    const deep = yield* from.search({
      vector: seen.vector,
      words: asks(fusion).keywords ? searchWords(question) : undefined,
      limit: WHY_DEPTH,
      filter
    })
    const wordsOf = makeWordsShared(question)
    const found = new Map(deep.map((hit) => [hit.passage.id, hit]))
    const passages = (yield* from.passages(id)).map((passage) =>
      explain(passage, stored.info, found.get(passage.id), filter, seen, wordsOf)
    )
    const sorted = passages.toSorted(
      (a, b) => orderOf(a) - orderOf(b) || a.passage.ordinal - b.passage.ordinal
    )
    const why: Why = {
      question,
      document: stored.info,
      passages: sorted,
      sentence:
        sorted[0]?.sentence ?? "The document has no passages: nothing that could be found was read from it."
    }
    return why
  })

const explain = (
  passage: StoredPassage,
  info: DocumentInfo,
  deep: Hit | undefined,
  filter: Filter | undefined,
  seen: Inspection,
  wordsOf: (text: string) => WordsShared
): PassageWhy => {
  const at = seen.fused.findIndex(({ hit }) => hit.passage.id === passage.id)
  const fused = seen.fused[at]
  const hit = fused?.hit ?? deep
  const candidate = seen.candidates.find((one) => one.passage.id === passage.id)
  const kept = seen.kept.some((one) => one.id === passage.id)
  const text = searchText(embeddedText(passage.document.title, passage))
  const why: Omit<PassageWhy, "outcome" | "sentence"> = {
    passage,
    ...placed("vector", hit?.vectorRank ?? deep?.vectorRank, hit?.similarity),
    ...placed("keywords", hit?.keywordRank ?? deep?.keywordRank, hit?.keywordScore),
    ...placed("fusion", fused && at + 1, fused?.score),
    ...placed("rerank", candidate?.rerankRank, candidate?.rerankScore),
    ...wordsOf(text)
  }
  const blocked = filter !== undefined && !matches(filter, { passage, metadata: info.metadata })
  const outcome = blocked
    ? "filtered"
    : seen.copies.has(passage.id)
      ? "same"
      : outcomeOf(seen, candidate, kept, hit)
  return { ...why, outcome, sentence: `${decided(seen, outcome, why, candidate)}${wordsSaid(why)}` }
}

const placed = (
  stage: "vector" | "keywords" | "fusion" | "rerank",
  rank: number | undefined,
  score: number | undefined
) =>
  rank === undefined && score === undefined
    ? {}
    : { [stage]: { ...(rank === undefined ? {} : { rank }), ...(score === undefined ? {} : { score }) } }

const outcomeOf = (
  { plan, recalled }: Inspection,
  candidate: TracedPassage | undefined,
  kept: boolean,
  hit: Hit | undefined
): Outcome => {
  if (kept) return "kept"
  if (candidate === undefined) return hit === undefined ? "not found" : "not recalled"
  if (candidate.sameAs !== undefined) return "same"
  if (candidate.rerankRank > recalled) return "not ranked"
  const { minimumRelevance: least } = plan
  return least !== undefined && (candidate.rerankScore ?? least) < least ? "not relevant" : "not kept"
}

const decided = (
  { copies, kept, plan, recalled, trace }: Inspection,
  outcome: Outcome,
  { fusion, keywords, passage, rerank, vector }: Omit<PassageWhy, "outcome" | "sentence">,
  candidate: TracedPassage | undefined
): string => {
  const ways = [
    vector?.rank === undefined ? "not found by the vector" : `${vector.rank} by the vector`,
    keywords?.rank === undefined ? "not found by keywords" : `${keywords.rank} by keywords`
  ].filter((_, i) => (i === 0 ? asks(plan.fusion).vector : asks(plan.fusion).keywords))
  const came = `rank ${ways.join(", ")}`.replace("rank not", "not")
  const score = rerank?.score === undefined ? "" : ` (score ${rerank.score.toPrecision(3)})`
  const order =
    rerank?.score === undefined ? "in the fused order, for the reranker was late" : "after reranking"
  const more =
    recalled > plan.recall ? ` and ${recalled - plan.recall} that say nearly the same as one of them` : ""
  switch (outcome) {
    case "filtered":
      return "The filter leaves it out."
    case "not found":
      return `It is not among the first ${WHY_DEPTH} by any way of recall.`
    case "not recalled":
      return fusion?.rank === undefined
        ? `It is ${came}: only the first ${plan.eachWay} of each were fused.`
        : `Rank ${fusion.rank} of the fused list (${came}): ${trace.candidates} were looked at.`
    case "not ranked":
      return `Rank ${rerank?.rank} ${order}${score}: recall took ${plan.recall}${more}. In the fused list it was ${fusion?.rank} (${came}).`
    case "not relevant":
      return `Rank ${rerank?.rank} ${order}${score}: the least relevance asked for is ${plan.minimumRelevance}.`
    case "same":
      return candidate === undefined
        ? `It says the same as ${copies.get(passage.id)}, or nearly, which the reranker looked at in its place.`
        : `It says the same as ${candidate.sameAs}, which was kept, or nearly.`
    case "not kept":
      return `Rank ${rerank?.rank} ${order}${score}: ${kept.length} were kept. In the fused list it was ${fusion?.rank} (${came}).`
    case "kept":
      return `Kept: rank ${rerank?.rank} ${order}${score}; in the fused list it was ${fusion?.rank} (${came}).`
  }
}

const wordsSaid = ({ missing, shared }: Pick<PassageWhy, "missing" | "shared">): string => {
  if (shared.length === 0) return missing.length === 0 ? "" : ` It has none of: ${some(missing)}.`
  return missing.length === 0
    ? ` It has all words asked for: ${some(shared)}.`
    : ` It has ${some(shared)}; it lacks ${some(missing)}.`
}

/** Words of a sentence at most: all of them are in `shared` and `missing`. */
const WORDS = 30

const some = (words: ReadonlyArray<string>): string =>
  `${words.slice(0, WORDS).join(", ")}${words.length > WORDS ? ` and ${words.length - WORDS} more` : ""}`

/** Kept ones first, then as far as each came. */
const orderOf = ({ fusion, keywords, outcome, rerank, vector }: PassageWhy): number => {
  if (outcome === "filtered") return 5 * WHY_DEPTH
  if (outcome === "kept") return (rerank?.rank ?? 0) - WHY_DEPTH
  if (rerank?.rank !== undefined) return rerank.rank
  if (fusion?.rank !== undefined) return WHY_DEPTH + fusion.rank
  return 2 * WHY_DEPTH + Math.min(vector?.rank ?? 2 * WHY_DEPTH, keywords?.rank ?? 2 * WHY_DEPTH)
}
