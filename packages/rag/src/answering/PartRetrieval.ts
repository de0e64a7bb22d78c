/** Retrieves for each part of a question. */
import { Effect } from "effect"
import { dedupeWith } from "effect/Array"
import type { RagError } from "../document/RagError.ts"
import type { Retrieval, Retriever } from "../retrieval/Retriever.ts"
import type { RetrieveOptions } from "../retrieval/stages/RetrieveOptions.ts"
import type { KeptPassage } from "../retrieval/stages/RetrievalStage.ts"
import type { StageTime, TracedPassage } from "../retrieval/stages/Trace.ts"
import { splitQuestion } from "./SplitQuestion.ts"

/** A part of a question, and what was kept for it. */
interface RetrievedPart {
  readonly question: string
  readonly kept: ReadonlyArray<KeptPassage>
}

/** A retrieval, with its parts if the question has several. */
export interface PartRetrieval extends Retrieval {
  readonly parts: ReadonlyArray<RetrievedPart>
  /** What was kept for the whole question, if it is a comparison. */
  readonly whole: ReadonlyArray<KeptPassage>
}

/**
 * The retrieval of a question. The parts of a question are retrieved apart, and of a comparison the question itself too.
 * Their passages are joined in turn: the best of each, then the second of each.
 */
export const retrieveParts = Effect.fn("PartRetrieval.retrieve")(function* (
  retrieve: Retriever["retrieve"],
  question: string,
  options: RetrieveOptions,
  isSplit: boolean,
  onStage: (stage: StageTime) => Effect.Effect<void> = () => Effect.void
): Effect.fn.Return<PartRetrieval, RagError> {
  const { isComparison, parts } = isSplit ? splitQuestion(question) : { parts: [], isComparison: false }
  if (parts.length === 0) return { ...(yield* retrieve(question, options, onStage)), parts: [], whole: [] }
  const asked = isComparison ? [question, ...parts] : parts
  const all = yield* Effect.forEach(asked, (part) => retrieve(part, options), { concurrency: asked.length })
  const [first, ...others] = all as [Retrieval, ...ReadonlyArray<Retrieval>]
  const stages = joinStages(all.flatMap(({ trace }) => trace.stages))
  yield* Effect.forEach(stages, onStage, { discard: true })
  return {
    options: first.options,
    kept: inTurn(
      all.map(({ kept }) => kept),
      ({ id }) => id
    ),
    trace: {
      ...first.trace,
      question,
      parts: asked,
      candidates: all.reduce((sum, { trace }) => sum + trace.candidates, 0),
      passages: joinPassages([first, ...others]),
      stages
    },
    parts: parts.map((part, i) => ({ question: part, kept: all[asked.length - parts.length + i]!.kept })),
    whole: isComparison ? first.kept : []
  }
})

/** The first of each list, then the second of each; each once. */
const inTurn = <A>(lists: ReadonlyArray<ReadonlyArray<A>>, key: (one: A) => string): ReadonlyArray<A> =>
  dedupeWith(
    Array.from({ length: Math.max(...lists.map(({ length }) => length)) }, (_, i) =>
      lists.flatMap((list) => list.slice(i, i + 1))
    ).flat(),
    (a, b) => key(a) === key(b)
  )

/** The passages of all parts, ranked anew. Ranks and scores of single searches are those of the passage's part. */
const joinPassages = (all: ReadonlyArray<Retrieval>): ReadonlyArray<TracedPassage> => {
  const kept = new Set(all.flatMap((one) => one.kept.map(({ id }) => id)))
  const lists = all.map(({ trace }, at) => trace.passages.map((one) => ({ ...one, part: at + 1 })))
  const idOf = ({ passage }: TracedPassage) => passage.id
  const reranked = inTurn(
    lists.map((list) => list.toSorted((a, b) => a.rerankRank - b.rerankRank)),
    idOf
  )
  const recalled = inTurn(lists, idOf).map(idOf)
  return reranked
    .map((one, i): TracedPassage => {
      const id = idOf(one)
      return { ...one, recallRank: recalled.indexOf(id) + 1, rerankRank: i + 1, kept: kept.has(id) }
    })
    .toSorted((a, b) => a.recallRank - b.recallRank)
}

/** The parts run at the same time: a stage lasts as long as the slowest, and costs the tokens of all. */
const joinStages = (stages: ReadonlyArray<StageTime>): ReadonlyArray<StageTime> =>
  [...Map.groupBy(stages, ({ stage }) => stage).values()].map((same) => {
    const counted = same.flatMap(({ tokens }) => tokens ?? [])
    const failed = [...new Set(same.flatMap((one) => one.failed ?? []))]
    const texts = same.flatMap((one) => one.texts ?? [])
    return {
      stage: same[0]!.stage,
      milliseconds: Math.max(...same.map(({ milliseconds }) => milliseconds)),
      ...(counted.length > 0 && { tokens: counted.reduce((sum, tokens) => sum + tokens, 0) }),
      ...(texts.length > 0 && { texts }),
      ...(failed.length > 0 && { failed: failed.join(" ") })
    }
  })
