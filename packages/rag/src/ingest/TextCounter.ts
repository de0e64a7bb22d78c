/** Counts the texts that an embedder would send, their tokens, their cost and how long that takes. */
import { Effect } from "effect"
import { RagError } from "../document/RagError.ts"
import { type PassageText, TEXTS_PER_CALL } from "../embedding/EmbeddingCalls.ts"
import type { PassageEmbedder, TokenEstimate } from "../embedding/PassageEmbedder.ts"
import type { PlanOptions } from "./IngestPlan.ts"

/** Texts with which a model is timed: a second or less of a model of 100 MB. */
const TIMED_TEXTS = 8

export const makeTextCounter = Effect.fnUntraced(function* (
  embedder: PassageEmbedder,
  { per1000Tokens, timeModel = false }: PlanOptions
) {
  if (per1000Tokens !== undefined && !(per1000Tokens >= 0 && per1000Tokens < Infinity)) {
    const message = `per1000Tokens is ${per1000Tokens}; expected quota units, 0 or more.`
    return yield* new RagError({ stage: "ingest", reason: "Malformed", message })
  }
  const counted = new Set<string>()
  const sample: Array<PassageText> = []
  const totals = { passages: 0, texts: 0, cached: 0, calls: 0, tokens: { estimated: 0, atMost: 0 } }
  let characters = 0
  return {
    /** Adds texts that are embedded together. */
    add: Effect.fnUntraced(function* (texts: ReadonlyArray<PassageText>) {
      const missing = yield* embedder.missing(texts)
      const sent = embedder.isCached ? missing.filter(({ hash }) => !counted.has(hash)) : missing
      for (const { hash, text } of sent) {
        counted.add(hash)
        const tokens = embedder.tokens(text)
        totals.tokens.estimated += tokens.estimated
        totals.tokens.atMost += tokens.atMost
        characters += text.length
      }
      sample.push(...sent.slice(0, TIMED_TEXTS - sample.length))
      totals.passages += texts.length
      totals.texts += sent.length
      totals.cached += new Set(texts.map(({ hash }) => hash)).size - missing.length
      totals.calls += Math.ceil(sent.length / TEXTS_PER_CALL)
    }),
    totals: Effect.gen(function* () {
      const seconds = yield* embedder.seconds(characters, timeModel ? sample : [])
      return {
        ...totals,
        ...(per1000Tokens !== undefined && { cost: costOf(totals.tokens, per1000Tokens) }),
        ...(seconds !== undefined && { seconds })
      }
    })
  }
})

/** Rounded up to whole units, as a gateway does. */
const costOf = ({ atMost, estimated }: TokenEstimate, per1000Tokens: number): TokenEstimate => ({
  estimated: Math.ceil((estimated * per1000Tokens) / 1000),
  atMost: Math.ceil((atMost * per1000Tokens) / 1000)
})
