/** What the models compute, and the same as jobs of the pool of threads. Pure. */
import type { Candidate, CitedSentence, Purpose, ReaderPassage, RerankOptions } from "@sluice/core/models"
import type { WorkerOutput } from "@sluice/core/workers"
import { DIMENSION, embedText } from "./lexical/embedText.ts"
import { addPriors, rerankScores } from "./lexical/rerankScores.ts"
import { ratePassages, readSentences } from "./reader/readSentences.ts"
import { countTokens } from "./text/tokenize.ts"

/** Characters of a query or question that the reranker and the reader consider. */
export const MAX_QUERY = 4_000

const cut = (query: string): string => query.slice(0, MAX_QUERY).toWellFormed()

export interface EmbedInput {
  readonly texts: ReadonlyArray<string>
  readonly purpose: Purpose
}

export const embedTexts = ({ purpose, texts }: EmbedInput): ReadonlyArray<Float32Array> =>
  texts.map((text) => embedText(text, purpose))

/** The vectors one after the other, so that they are moved, not copied. */
export const embedJob = ({ purpose, texts }: EmbedInput): WorkerOutput<ReadonlyArray<Float32Array>> => {
  const all = new Float32Array(texts.length * DIMENSION)
  texts.forEach((text, i) => all.set(embedText(text, purpose), i * DIMENSION))
  const value = texts.map((_, i) => all.subarray(i * DIMENSION, (i + 1) * DIMENSION))
  return { value, transfer: [all.buffer] }
}

export interface RerankInput {
  readonly query: string
  readonly documents: ReadonlyArray<Candidate>
  readonly options: RerankOptions | undefined
}

/** The best first. */
export const rankDocuments = ({ documents, options, ...input }: RerankInput) => {
  const query = cut(input.query)
  const priors = options?.priors
  const scores = rerankScores(query, documents, priors)
  const relevance = priors === undefined ? scores : addPriors(query, scores, priors)
  const results = Array.from(scores, (score, index) => ({
    index,
    score,
    ...(priors === undefined ? {} : { relevance: relevance[index] as number })
  })).toSorted(
    (a, b) =>
      (relevance[b.index] as number) - (relevance[a.index] as number) ||
      b.score - a.score ||
      a.index - b.index
  )
  return results.slice(0, options?.topN ?? results.length)
}

export interface ReadInput {
  readonly question: string
  readonly passages: ReadonlyArray<ReaderPassage>
}

export const read = ({ passages, question }: ReadInput): ReadonlyArray<CitedSentence> =>
  readSentences(cut(question), passages)

export const rate = ({ passages, question }: ReadInput): ReadonlyArray<number> =>
  ratePassages(cut(question), passages)

/** The words and CJK characters of some texts. */
export const countAll = (texts: ReadonlyArray<string>): number =>
  texts.reduce((sum, text) => sum + countTokens(text), 0)

const jobOf =
  <Input, A>(compute: (input: Input) => A) =>
  (input: Input): WorkerOutput<A> => ({ value: compute(input) })

export const rerankJob = jobOf(rankDocuments)
export const readJob = jobOf(read)
export const rateJob = jobOf(rate)
export const countJob = jobOf(countAll)
