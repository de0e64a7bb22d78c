/** What a summary computes of all its passages: jobs of the pool of threads. Pure. */
import type { CitedSentence } from "@sluice/core/models"
import type { WorkerOutput } from "@sluice/core/workers"
import { estimateTokens } from "../embedding/PassageEmbedder.ts"
import { centralTexts } from "./CentralTexts.ts"
import { extractSentences } from "./ExtractSentences.ts"

/** Passages among which those to read are chosen: 5 s. Beyond, they are taken at equal distances. */
const MAX_RANKED = 2_000

export interface TextsToSelect {
  readonly texts: ReadonlyArray<string>
  /** Tokens of all that are selected. */
  readonly budget: number
}

export interface SelectedText {
  readonly index: number
  readonly tokens: number
}

/** The most central texts, as far as the budget goes, in their order. */
export const selectJob = ({ budget, texts }: TextsToSelect): WorkerOutput<ReadonlyArray<SelectedText>> => {
  const all = texts.map((text, index) => ({ index, tokens: estimateTokens(text).estimated }))
  let left = budget
  if (all.reduce((sum, { tokens }) => sum + tokens, 0) <= left) return { value: all }
  const step = Math.ceil(texts.length / MAX_RANKED)
  const ranked = all.filter(({ index }) => index % step === 0)
  const best = centralTexts(
    ranked.map(({ index }) => texts[index]!),
    ranked.length
  ).filter((i) => {
    const fits = ranked[i]!.tokens <= left
    if (fits) left -= ranked[i]!.tokens
    return fits
  })
  return { value: best.toSorted((a, b) => a - b).map((i) => ranked[i]!) }
}

export interface TextsToExtract {
  readonly texts: ReadonlyArray<string>
  readonly limit: number
}

export const extractJob = ({ limit, texts }: TextsToExtract): WorkerOutput<ReadonlyArray<CitedSentence>> => ({
  value: extractSentences(texts, limit)
})
