/** Explains why a document was found for a question or not: its rank at every stage, and the stage that decided. */
import { Effect } from "effect"
import type { DocumentInfo, StoredPassage } from "../document/Document.ts"
import { RagError } from "../document/RagError.ts"
import { embeddedText, searchText } from "../document/SearchText.ts"
import type { Collection } from "../store/PassageIndex.ts"
import type { Inspection, Retriever } from "./Retriever.ts"
import { searchIndex, WHY_DEPTH } from "./stages/Recall.ts"
import type { RetrieveOptions } from "./stages/RetrieveOptions.ts"
import { type SharedWords, sharedWordsOf } from "./stages/SharedWords.ts"
import type {
  ExplainedPassage,
  Outcome,
  PassageRank,
  RetrievalStage,
  StageExplanation
} from "./stages/RetrievalStage.ts"

/** The ranks of one passage, and the outcome. */
export interface PassageWhy extends SharedWords {
  readonly passage: StoredPassage
  /** By list: `vector`, `keywords`, `fusion`, `rerank`, and those of stages that the program registered. */
  readonly places: { readonly [list: string]: PassageRank }
  readonly outcome: Outcome
  readonly sentence: string
}

/** The passages of a document, best first. `sentence` is that of the best one. */
export interface Why {
  readonly question: string
  readonly document: DocumentInfo
  readonly passages: ReadonlyArray<PassageWhy>
  readonly sentence: string
  /** Texts that were searched besides the question (`hyde`, `queries`, `previous`). */
  readonly generated?: ReadonlyArray<string>
}

/** Retrieves once more, and searches `WHY_DEPTH` deep. Fails with `NotFound` for an unknown document. */
export const makeWhy = (
  collection: Effect.Effect<Collection, RagError>,
  { inspect, stages }: Pick<Retriever, "inspect" | "stages">
) =>
  Effect.fn("Library.why")(function* (id: string, question: string, options?: RetrieveOptions) {
    const from = yield* collection
    const stored = yield* from.document(id)
    if (stored === undefined) {
      const message = `Collection "${from.name}" has no document ${id}. Ingest it, or list the documents.`
      return yield* new RagError({ stage: "retrieve", reason: "NotFound", message, document: id })
    }
    const inspection = yield* inspect(question, options)
    const deep = yield* searchIndex(inspection.state, WHY_DEPTH)
    const hits = new Map(deep.map((hit) => [hit.passage.id, hit]))
    const wordsIn = sharedWordsOf(question)
    const passages = (yield* from.passages(id))
      .map((passage) => {
        const explained = { passage, info: stored.info, hit: hits.get(passage.id) }
        const words = wordsIn(searchText(embeddedText(passage.document.title, passage)))
        return explainPassage(stages, inspection, explained, words)
      })
      .toSorted((a, b) => sortKey(a) - sortKey(b) || a.passage.ordinal - b.passage.ordinal)
    const generated = inspection.trace.stages.flatMap(({ texts = [] }) => texts)
    const why: Why = {
      question,
      ...(generated.length > 0 && { generated }),
      document: stored.info,
      passages,
      sentence: passages[0]?.sentence ?? "The document has no passages, because it has no text."
    }
    return why
  })

const explainPassage = (
  stages: ReadonlyArray<RetrievalStage>,
  { state }: Inspection,
  explained: ExplainedPassage,
  words: SharedWords
): PassageWhy => {
  const explanations = stages.map(({ explain }): StageExplanation => explain?.(state, explained) ?? {})
  const places: Record<string, PassageRank> = Object.assign({}, ...explanations.map(({ places }) => places))
  const { outcome = "not kept", sentence = "Not kept." } =
    explanations.find(({ outcome }) => outcome !== undefined) ?? {}
  return {
    passage: explained.passage,
    places,
    outcome,
    ...words,
    sentence: [sentence, placesText(places), wordsText(words)].filter((part) => part !== "").join(" ")
  }
}

const placesText = (places: Readonly<Record<string, PassageRank>>): string => {
  const ranks = Object.entries(places).flatMap(([list, { rank, score }]) => {
    if (rank === undefined) return []
    return [`${list} ${rank}${score === undefined ? "" : ` (${Number(score.toPrecision(3))})`}`]
  })
  return ranks.length === 0 ? "" : `Ranks and scores: ${ranks.join(", ")}.`
}

const wordsText = ({ missing, shared }: SharedWords): string => {
  if (shared.length === 0) return missing.length === 0 ? "" : `Has none of the words ${listed(missing)}.`
  return missing.length === 0
    ? `Has all words: ${listed(shared)}.`
    : `Has the words ${listed(shared)}; lacks ${listed(missing)}.`
}

/** The maximum of words in a sentence. `shared` and `missing` have all words. */
const MAX_LISTED = 30

const listed = (words: ReadonlyArray<string>): string =>
  `${words.slice(0, MAX_LISTED).join(", ")}${words.length > MAX_LISTED ? ` and ${words.length - MAX_LISTED} more` : ""}`

/** Kept passages first, then by the last list that has the passage. */
const sortKey = ({ outcome, places }: PassageWhy): number => {
  const { fusion, keywords, rerank, vector } = places
  if (outcome === "filtered") return 5 * WHY_DEPTH
  if (outcome === "kept") return (rerank?.rank ?? 0) - WHY_DEPTH
  if (rerank?.rank !== undefined) return rerank.rank
  if (fusion?.rank !== undefined) return WHY_DEPTH + fusion.rank
  return 2 * WHY_DEPTH + Math.min(vector?.rank ?? 2 * WHY_DEPTH, keywords?.rank ?? 2 * WHY_DEPTH)
}
