/** What a reader that writes gets to read: more than the kept passages, within a budget of tokens. */
import type { ReaderModel } from "@sluice/core/models"
import { Effect } from "effect"
import { dedupeWith } from "effect/Array"
import type { StoredPassage } from "../document/Document.ts"
import type { RagError } from "../document/RagError.ts"
import { estimateTokens } from "../embedding/PassageEmbedder.ts"
import type { Retrieval } from "../retrieval/Retriever.ts"
import { sectionsOf } from "../retrieval/stages/Expand.ts"
import { isBelow } from "../retrieval/stages/Select.ts"
import type { Collection } from "../store/PassageIndex.ts"
import type { ContextOptions } from "./AnswerOptions.ts"

/** Defaults of `ContextOptions`; docs/explanation/answers.md has the measurements. */
const CONTEXT = { passages: 10, tokens: 6_000 } as const

/** The share of a model's window that passages may fill. The rest is for the prompt, a repair and the response. */
const WINDOW_SHARE = 0.5

/** Passages that are read as one: neighbours in a document. */
export type ReadPassages = readonly [StoredPassage, ...ReadonlyArray<StoredPassage>]

const isSame = (a: StoredPassage, b: StoredPassage) => a.id === b.id

/** The kept passages, and after them the next best ones of the retrieval up to `count`. None if none is kept. */
export const bestPassages = (
  { kept, options, trace }: Pick<Retrieval, "kept" | "options" | "trace">,
  count: number
): ReadonlyArray<StoredPassage> => {
  const next = trace.passages
    .filter((one) => one.sameAs === undefined && !isBelow(one, options.minimumRelevance))
    .toSorted((a, b) => a.rerankRank - b.rerankRank)
    .map(({ passage }) => passage)
  return kept.length === 0
    ? []
    : dedupeWith([...kept, ...next], isSame).slice(0, Math.max(count, kept.length))
}

/**
 * The kept passages, the next best ones of the retrieval, then the neighbours of the kept ones in their sections, as far as
 * the budget goes. They are in the order of their documents, best document first, and neighbours are together.
 */
export const readingContext = Effect.fn("ReadingContext.read")(function* (
  { kept, options, trace }: Retrieval,
  collection: Effect.Effect<Collection, RagError>,
  { window }: ReaderModel,
  { passages = CONTEXT.passages, section = true, tokens }: ContextOptions
) {
  const budget = tokens ?? Math.min(CONTEXT.tokens, WINDOW_SHARE * (window ?? Number.POSITIVE_INFINITY))
  const best = bestPassages({ kept, options, trace }, passages)
  const sections =
    section && options.expand === "none"
      ? yield* sectionsOf(kept, yield* collection)
      : kept.map((passage) => passage.section ?? [])
  let left = budget
  const read = dedupeWith([...best, ...sections.flat()], isSame).filter((passage, i) => {
    const { estimated } = estimateTokens(passage.text)
    // The kept ones are read whatever they cost.
    const fits = i < kept.length || estimated <= left
    if (fits) left -= estimated
    return fits
  })
  return [...Map.groupBy(read, ({ document }) => document.id).values()].flatMap((group) =>
    together(group.toSorted((a, b) => a.ordinal - b.ordinal))
  )
})

/** Joins neighbours under the same headings. A figure or table stays on its own. */
const together = (passages: ReadonlyArray<StoredPassage>): ReadonlyArray<ReadPassages> => {
  const joined: Array<ReadPassages> = []
  for (const passage of passages) {
    const last = joined.at(-1)
    const before = last?.at(-1)
    const isNext =
      before?.ordinal === passage.ordinal - 1 &&
      before.figure === undefined &&
      passage.figure === undefined &&
      before.headings.join("\n") === passage.headings.join("\n")
    if (last !== undefined && isNext) joined[joined.length - 1] = [...last, passage]
    else joined.push([passage])
  }
  return joined
}
