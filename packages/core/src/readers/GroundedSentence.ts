/** Finds the quotes of a sentence in the passages, and a quote for a citation without one. */
import type { CitedSentence, Evidence, ReaderPassage } from "../models/Reader.ts"
import { findQuote, isProof, sentencesOf } from "./Quote.ts"
import type { WrittenCitation, WrittenSentence } from "./SentenceObjects.ts"
import { supportingSentence } from "./Support.ts"

type Passages = ReadonlyArray<ReaderPassage>

/** The sentence of a passage that supports the text. With several passages, of the one that supports it best. */
const matched = (text: string, passages: Passages, among: Iterable<number>): ReadonlyArray<Evidence> => {
  const [best] = [...among]
    .flatMap((passage) => {
      const source = passages[passage]
      const found = source && supportingSentence(text, source.text, source.title)
      return found === undefined ? [] : [{ passage, ...found }]
    })
    .toSorted((a, b) => b.share - a.share)
  return best === undefined ? [] : [{ passage: best.passage, quote: best.quote, quoted: "matched" }]
}

/** The quote in the passage that the model named, or in another one: models often count wrong. */
const quoted = (text: string, quote: string, named: number, passages: Passages): ReadonlyArray<Evidence> => {
  const order = [named, ...passages.keys().filter((index) => index !== named)]
  for (const passage of order) {
    const source = passages[passage]
    const found = source && findQuote(quote, source.text)
    if (found === undefined || source === undefined) continue
    if (isProof(found, source.text, source.delimiter)) return [{ passage, quote: found }]
    // Too short to prove anything: the sentence around it may.
    if (passage === named) return matched(text, passages, [passage])
  }
  const parts = sentencesOf(quote)
  if (parts.length < 2) return []
  // Sentences that do not follow each other in the passage.
  const found = parts.map((part) => quoted(text, part, named, passages))
  return found.every((evidence) => evidence.length > 0) ? found.flat() : []
}

export interface GroundedSentence {
  readonly sentence: CitedSentence
  /** Whether one of its quotes is in the passages. */
  readonly isProved: boolean
  /** The model's quotes that are in no passage. */
  readonly wrong: ReadonlyArray<string>
}

/** The sentence with the passages' own words as evidence. Without any, it has the model's, for the caller to count. */
export const groundSentence = (
  { citations, text }: WrittenSentence,
  passages: Passages
): GroundedSentence => {
  const evidenceOf = ({ passage = 0, quote }: WrittenCitation): ReadonlyArray<Evidence> =>
    quote === undefined ? matched(text, passages, [passage - 1]) : quoted(text, quote, passage - 1, passages)
  const found = citations.map(evidenceOf)
  const wrong = citations.flatMap(({ quote }, i) =>
    quote === undefined || found[i]!.length > 0 ? [] : [quote]
  )
  const cited = found.flat()
  // Models often count passages wrong.
  const evidence = cited.length > 0 || wrong.length > 0 ? cited : matched(text, passages, passages.keys())
  const claimed = citations.flatMap(({ passage = 0, quote }) =>
    quote === undefined ? [] : [{ passage: passage - 1, quote }]
  )
  const isProved = evidence.length > 0
  return { sentence: { text, evidence: isProved ? evidence : claimed }, isProved, wrong }
}
