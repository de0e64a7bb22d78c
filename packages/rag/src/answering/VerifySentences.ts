/** Asks the verifier whether the quotes of an answer support its sentences. */
import type { Verifier } from "@sluice/core"
import { Duration, Effect } from "effect"
import { titleOf } from "../document/SearchText.ts"
import type { StageTime } from "../retrieval/stages/Trace.ts"
import type { makeSentenceReading } from "./SentenceReading.ts"

type SentenceReading = ReturnType<typeof makeSentenceReading>

/** Verifies all sentences in one call. If the model fails, they stay as they are, and the stage says so. */
export const verifySentences = Effect.fn("VerifySentences.verify")(function* (
  verifier: Verifier["Service"],
  question: string,
  { citations, doubt, sentences }: SentenceReading,
  drops: boolean
): Effect.fn.Return<StageTime> {
  const byNumber = new Map(citations.map((citation) => [citation.n, citation]))
  const claims = sentences.map(({ citations: numbers, text }) => {
    const cited = numbers.flatMap((n) => byNumber.get(n) ?? [])
    // What a vision model saw has no quote.
    const quotes = cited.flatMap(({ quote }) => (quote === "" ? [] : [quote]))
    const titles = cited.map(({ headings, title }) => titleOf(title, headings))
    return { sentence: text, quotes, context: [...new Set(titles), question].join("\n") }
  })
  const quoted = claims.flatMap((claim, i) => (claim.quotes.length === 0 ? [] : [{ claim, i }]))
  const [duration, result] = yield* verifier.verify(quoted.map(({ claim }) => claim)).pipe(
    Effect.map(({ doubts, tokens }) => {
      const byIndex = new Map(quoted.map(({ i }, at) => [i, doubts[at]]))
      doubt(
        sentences.map((_, i) => byIndex.get(i)),
        drops
      )
      return tokens > 0 ? { tokens } : {}
    }),
    Effect.catch(({ message }) => Effect.succeed({ failed: message })),
    Effect.timed
  )
  return { stage: "verify", milliseconds: Duration.toMillis(duration), ...result }
})
