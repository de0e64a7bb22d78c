/** Passages to vectors: what is embedded, what is kept, and what is not believed. */
import { hash as digest } from "node:crypto"
import { Embedder, GatewayError } from "@sluice/core"
import { asSentence } from "@sluice/core/contract"
import { Effect } from "effect"
import { type EmbeddedText, embeddingCalls, type KeyedText, type PassageText } from "./EmbeddingCalls.ts"
import type { VectorCache } from "../store/PassageIndex.ts"
import { RagError, type Stage } from "../document/RagError.ts"
import { estimateTokens, type TokenEstimate } from "./TokenEstimate.ts"

/** Texts looked up in the cache at a time. */
const TEXTS_PER_LOOKUP = 2_000

/** Calls at a time, for models that are far away. */
const CALLS_AT_ONCE = 4

/** SHA-256, hexadecimal. */
export const sha256 = (data: string | Uint8Array): string => digest("sha256", data)

/** What may still be sent to the model. */
export interface EmbeddingBudget {
  calls: number
  texts: number
}

/** Embeds passages; each text fails or succeeds by itself. Equal texts that are under way together are embedded once. */
export interface PassageEmbedder {
  readonly embed: (texts: ReadonlyArray<PassageText>) => Effect.Effect<ReadonlyArray<EmbeddedText>, RagError>
  /** The different texts among these that have no vector in the cache, in their order. Asks no model. */
  readonly missing: (texts: ReadonlyArray<PassageText>) => Effect.Effect<ReadonlyArray<PassageText>, RagError>
  /** Whether a text that was embedded once is not sent again: models that cost nothing have no cache. */
  readonly remembers: boolean
  /** What the model will count for a text, its prefix included. */
  readonly tokens: (text: string) => TokenEstimate
  /** The same embedder, which sends no more than that: what would go over it fails with `Stale`, unsent. */
  readonly within: (budget: EmbeddingBudget) => PassageEmbedder
}

/** What the model promised, checked: the vector itself, undefined when it has no direction, or what is wrong with it. */
export const checkVector = (
  vector: Float32Array | undefined,
  dimension: number,
  model: string,
  stage: Stage
): EmbeddedText => {
  if (vector === undefined) return distrusted(stage, model, "gave no vector for a text")
  if (vector.length !== dimension)
    return distrusted(stage, model, `gave a vector of ${vector.length} numbers where ${dimension} were due`)
  let squares = 0
  for (let i = 0; i < vector.length; i++) squares += vector[i]! * vector[i]!
  if (!Number.isFinite(squares))
    return distrusted(stage, model, "gave a vector with a number that is not finite")
  return { _tag: "Vector", vector: squares === 0 ? undefined : vector }
}

/** With `cache`, vectors are looked up before a call and kept after it; models that cost nothing need none. */
export const makePassageEmbedder = Effect.fn("PassageEmbedder.make")(function* (
  dimension: number,
  cache: VectorCache | undefined
) {
  const { embed, model } = yield* Embedder

  const ask = Effect.fn("PassageEmbedder.call")(function* (texts: ReadonlyArray<PassageText>) {
    return yield* embed(
      texts.map(({ text }) => text),
      "passage"
    ).pipe(
      Effect.map(({ vectors }) => {
        const right = vectors.length === texts.length
        return texts.map((_, i): EmbeddedText =>
          right
            ? checkVector(vectors[i], dimension, model.id, "ingest")
            : distrusted("ingest", model.id, `gave ${vectors.length} vectors for ${texts.length} texts`)
        )
      }),
      Effect.catchTag("GatewayError", (error) =>
        Effect.succeed(salvage(texts.length, error, dimension, model.id))
      )
    )
  })

  /** Vectors in the cache, by the hash of their text. */
  const lookUp = Effect.fn("PassageEmbedder.lookUp")(function* (texts: ReadonlyArray<KeyedText>) {
    const found = new Map<string, Float32Array>()
    if (cache === undefined) return found
    for (let i = 0; i < texts.length; i += TEXTS_PER_LOOKUP) {
      const some = new Map(texts.slice(i, i + TEXTS_PER_LOOKUP).map(({ hash, key }) => [key, hash]))
      for (const [key, vector] of yield* cache.get([...some.keys()])) found.set(some.get(key)!, vector)
    }
    return found
  })

  const missing: PassageEmbedder["missing"] = Effect.fn("PassageEmbedder.missing")(function* (texts) {
    const different = differentOf(texts, cache !== undefined)
    const known = yield* lookUp(different)
    return different.filter(({ hash }) => !known.has(hash))
  })

  const atOnce = model.free ? 1 : CALLS_AT_ONCE
  const vectorsOf = yield* embeddingCalls({ ask, lookUp, cache, atOnce, dimension })

  const embedder = (budget: EmbeddingBudget | undefined): PassageEmbedder => ({
    embed: Effect.fn("PassageEmbedder.embed")(function* (texts) {
      const different = differentOf(texts, cache !== undefined)
      const { fresh, known } = yield* vectorsOf(different, (count) =>
        isWithin(budget, count) ? undefined : OVER_BUDGET
      )
      return texts.map(
        ({ hash }) => fresh.get(hash) ?? checkVector(known.get(hash), dimension, model.id, "ingest")
      )
    }),
    missing,
    remembers: cache !== undefined,
    tokens: (text) => estimateTokens((model.prefixes?.passage ?? "") + text),
    within: embedder
  })

  return embedder(undefined)
})

/** Each text once. */
const differentOf = (texts: ReadonlyArray<PassageText>, kept: boolean): ReadonlyArray<KeyedText> =>
  [...new Map(texts.map(({ hash, text }) => [hash, text]))].map(([hash, text]) => ({
    hash,
    text,
    key: kept ? keyOf(hash) : ""
  }))

/** What a passage's vector is kept under; a question of the same words has another vector with many models. */
const keyOf = (hash: string): string => sha256(`passage\0${hash}`)

/** Takes one call out of the budget, where it still has it. */
const isWithin = (budget: EmbeddingBudget | undefined, texts: number): boolean => {
  if (budget === undefined) return true
  if (budget.calls < 1 || budget.texts < texts) return false
  budget.calls--
  budget.texts -= texts
  return true
}

const OVER_BUDGET: EmbeddedText = {
  _tag: "Failed",
  error: new RagError({
    stage: "ingest",
    reason: "Stale",
    message:
      "This document needs more texts embedded than were planned, and was left out unpaid: the cache of vectors has changed. Make a new plan."
  })
}

const distrusted = (stage: Stage, model: string, what: string): EmbeddedText => ({
  _tag: "Failed",
  error: new RagError({
    stage,
    reason: "Model",
    message: `The embedding model ${model} ${what}. ${stage === "ingest" ? "Nothing of it was stored. " : ""}Check that the configured model is the one that answers.`
  })
})

/** What is left of a call that failed: with `PartialFailure` the vectors that were paid for. */
const salvage = (
  count: number,
  error: GatewayError,
  dimension: number,
  model: string
): ReadonlyArray<EmbeddedText> => {
  const partial = error.reason._tag === "PartialFailure" ? error.reason : undefined
  const why = partial === undefined ? error : new GatewayError({ ...error, reason: partial.first })
  return Array.from({ length: count }, (_, i): EmbeddedText =>
    partial?.kept.has(i) === true
      ? checkVector(partial.kept.get(i), dimension, model, "ingest")
      : { _tag: "Failed", error: modelError("ingest", why) }
  )
}

/** A model's failure as ours: it says itself what to do next. */
export const modelError = (stage: Stage, cause: GatewayError): RagError =>
  new RagError({
    stage,
    reason: "Model",
    message: `${asSentence(cause.message)}${stage === "ingest" ? " What succeeded is kept." : ""}`,
    cause
  })
