/** What the models compute, as jobs for this thread or one of the pool. Pure. */
import type { Candidate, Purpose, ReaderPassage, RerankOptions } from "@sluice/core/models"
import { embedText } from "./lexical/embedText.ts"
import { addPriors, rerankScores } from "./lexical/rerankScores.ts"
import { readSentences } from "./reader/readSentences.ts"
import { DIMENSION } from "./text/features.ts"
import { countTokens } from "./text/tokenize.ts"

/** Characters of a query or question that the reranker and the reader consider. */
export const MAX_QUERY = 4_000

const cut = (query: string): string => query.slice(0, MAX_QUERY).toWellFormed()

interface Embed {
  readonly texts: ReadonlyArray<string>
  readonly purpose: Purpose
}

/** The vectors one after the other, so that they are moved, not copied. */
export const embed = ({ purpose, texts }: Embed) => {
  const all = new Float32Array(texts.length * DIMENSION)
  texts.forEach((text, i) => all.set(embedText(text, purpose), i * DIMENSION))
  const value = texts.map((_, i) => all.subarray(i * DIMENSION, (i + 1) * DIMENSION))
  return { value, transfer: [all.buffer] }
}

interface Rerank {
  readonly query: string
  readonly documents: ReadonlyArray<Candidate>
  readonly options: RerankOptions | undefined
}

/** The best first. */
export const rankDocuments = ({ documents, options, ...input }: Rerank) => {
  const query = cut(input.query)
  const priors = options?.priors
  const scores = rerankScores(query, documents, priors)
  const relevance = priors === undefined ? scores : addPriors(query, scores, priors)
  const results = Array.from(scores, (score, index) => ({
    index,
    score,
    ...(priors === undefined ? {} : { relevance: relevance[index] as number })
  })).toSorted((a, b) => (relevance[b.index] as number) - (relevance[a.index] as number) || b.score - a.score)
  return { value: results.slice(0, options?.topN ?? results.length) }
}

interface Read {
  readonly question: string
  readonly passages: ReadonlyArray<ReaderPassage>
}

export const read = ({ passages, question }: Read) => ({ value: readSentences(cut(question), passages) })

/** The words and CJK characters of some texts. */
export const count = (texts: ReadonlyArray<string>) => ({
  value: texts.reduce((sum, text) => sum + countTokens(text), 0)
})
