/** Embeds passages: which texts are sent, which vectors are cached, and which are rejected. */
import { Embedder, GatewayError } from "@sluice/core"
import type { EmbedderModel } from "@sluice/core/models"
import { asSentence } from "@sluice/core/contract"
import { Context, Duration, Effect } from "effect"
import { CHUNKER } from "../chunking/Chunker.ts"
import { Chunker } from "../chunking/CustomChunker.ts"
import { sha256 } from "../document/Hash.ts"
import { RagError, type Stage } from "../document/RagError.ts"
import { DocumentFormats } from "../formats/DocumentFormats.ts"
import { FORMAT, type Manifest } from "../store/Manifest.ts"
import { PassageIndex, type VectorCache } from "../store/PassageIndex.ts"
import { type EmbeddedText, embeddingCalls, type KeyedText, type PassageText } from "./EmbeddingCalls.ts"

const TEXTS_PER_LOOKUP = 2_000

const CONCURRENT_CALLS = 4

/** What may still be sent to the model. */
interface EmbeddingBudget {
  calls: number
  texts: number
}

/** Tokens of a text: `estimated` as common vocabularies count, `atMost` by bytes, because no token has less than one. */
export interface TokenEstimate {
  readonly estimated: number
  readonly atMost: number
}

/** The largest call that was timed of each model, by its name in a manifest: small calls say little of large ones. */
const TimedCalls = Context.Reference<Map<string, { readonly characters: number; readonly seconds: number }>>(
  "@sluice/rag/TimedCalls",
  { defaultValue: () => new Map() }
)

const charactersOf = (texts: ReadonlyArray<PassageText>): number =>
  texts.reduce((sum, { text }) => sum + text.length, 0)

/** Times the calls of the present model. `concurrency`: calls at the same time. */
const makeTimer = Effect.fnUntraced(function* (concurrency: number) {
  const { embed, model } = yield* Embedder
  const timedCalls = yield* TimedCalls
  const name = manifestName(model)

  const timed = Effect.fnUntraced(function* (texts: ReadonlyArray<PassageText>) {
    const words = texts.map(({ text }) => text)
    const [took, result] = yield* Effect.timed(embed(words, "passage"))
    const characters = charactersOf(texts)
    if (characters >= (timedCalls.get(name)?.characters ?? 1))
      timedCalls.set(name, { characters, seconds: Duration.toSeconds(took) })
    return result
  })

  const seconds: PassageEmbedder["seconds"] = Effect.fn("PassageEmbedder.seconds")(
    function* (characters, sample) {
      if (characters === 0) return 0
      const known = timedCalls.get(name)?.characters ?? 0
      if (model.free && known < charactersOf(sample)) {
        // The first call may load the model.
        const calls = Effect.andThen(embed([sample[0]!.text], "passage"), timed(sample))
        yield* Effect.mapError(calls, modelError("ingest"))
      }
      const call = timedCalls.get(name)
      return call && (call.seconds * characters) / call.characters / concurrency
    }
  )

  return { seconds, timed }
})

/** Embeds passages. Texts succeed or fail independently. Equal texts that are embedded concurrently are sent once. */
export interface PassageEmbedder {
  readonly embed: (texts: ReadonlyArray<PassageText>) => Effect.Effect<ReadonlyArray<EmbeddedText>, RagError>
  /** The different texts without a vector in the cache, in order. Calls no model. */
  readonly missing: (texts: ReadonlyArray<PassageText>) => Effect.Effect<ReadonlyArray<PassageText>, RagError>
  /** False for free models: their vectors are not cached. */
  readonly isCached: boolean
  /** The tokens of a text with the model's prefix. */
  readonly tokens: (text: string) => TokenEstimate
  /**
   * How long embedding this many characters takes. Undefined if this process has not used the model; a free one is timed with
   * `sample`.
   */
  readonly seconds: (
    characters: number,
    sample: ReadonlyArray<PassageText>
  ) => Effect.Effect<number | undefined, RagError>
  /** The same embedder with a budget. Texts that exceed it are not sent, and fail with `Stale`. */
  readonly within: (budget: EmbeddingBudget) => PassageEmbedder
}

/** The manifest of the present models. Asks the embedding model for its dimension. */
export const presentManifest = Effect.gen(function* () {
  const { dimension, model } = yield* Embedder
  const manifest: Manifest = {
    format: FORMAT,
    embeddingModel: manifestName(model),
    dimension: yield* Effect.mapError(dimension, modelError("open")),
    chunker: yield* chunkerName
  }
  return manifest
})

/** The chunker, and the formats that have a version: everything that determines a document's passages. */
const chunkerName = Effect.gen(function* () {
  const versions = (yield* DocumentFormats).flatMap(({ id, version }) =>
    version === undefined ? [] : [`${id}@${version}`]
  )
  return [(yield* Chunker)?.id ?? CHUNKER, ...versions].join(" with ")
})

/** Everything that determines a model's vectors: its identifier, its input types, and its prefixes. */
const manifestName = ({ hasInputType, id, prefixes: { passage = "", query = "" } = {} }: EmbedderModel) => {
  const name = hasInputType === true ? `${id} with input types` : id
  return query === "" && passage === ""
    ? name
    : `${name} with prefixes ${JSON.stringify(query)} and ${JSON.stringify(passage)}`
}

/** The embedder of the present model, with the store's cache unless the model is free. */
export const passageEmbedder = Effect.fn("PassageEmbedder.present")(function* ({ dimension }: Manifest) {
  const { model } = yield* Embedder
  const index = yield* PassageIndex
  const cache = Effect.catchIf(
    index.vectors(manifestName(model), dimension),
    ({ reason }) => reason === "Damaged",
    ({ message }) => Effect.as(Effect.logError(`Vectors are not cached. ${message}`), undefined)
  )
  return yield* makePassageEmbedder(dimension, model.free ? undefined : yield* cache)
})

/** Without `cache`, all texts are sent. */
export const makePassageEmbedder = Effect.fn("PassageEmbedder.make")(function* (
  dimension: number,
  cache: VectorCache | undefined
) {
  const { model } = yield* Embedder
  const check = (vector: Float32Array | undefined) => checkVector(vector, dimension, model.id, "ingest")
  const concurrency = model.free ? 1 : CONCURRENT_CALLS
  const { seconds, timed } = yield* makeTimer(concurrency)

  const request = (texts: ReadonlyArray<PassageText>) => {
    return timed(texts).pipe(
      Effect.map(({ vectors }) =>
        texts.map((_, i) =>
          vectors.length === texts.length
            ? check(vectors[i])
            : invalidResponse("ingest", model.id, `${vectors.length} vectors for ${texts.length} texts`)
        )
      ),
      Effect.catchTag("GatewayError", (error) => {
        // `PartialFailure` has the vectors that were paid for.
        const partial = error.reason._tag === "PartialFailure" ? error.reason : undefined
        const cause = partial === undefined ? error : new GatewayError({ ...error, reason: partial.first })
        const failed: EmbeddedText = { _tag: "Failed", error: modelError("ingest")(cause) }
        const kept = texts.map((_, i) => (partial?.kept.has(i) ? check(partial.kept.get(i)) : failed))
        return Effect.succeed(kept)
      }),
      Effect.withSpan("PassageEmbedder.call")
    )
  }

  /** Cached vectors, by the hash of their text. */
  const lookUp = Effect.fn("PassageEmbedder.lookUp")(function* (texts: ReadonlyArray<KeyedText>) {
    const found = new Map<string, Float32Array>()
    if (cache === undefined) return found
    for (let i = 0; i < texts.length; i += TEXTS_PER_LOOKUP) {
      const hashes = new Map(texts.slice(i, i + TEXTS_PER_LOOKUP).map(({ hash, key }) => [key, hash]))
      for (const [key, vector] of yield* cache.get([...hashes.keys()])) found.set(hashes.get(key)!, vector)
    }
    return found
  })

  /** Each text once. A question of the same words may have another vector, so that the key says "passage". */
  const different = (texts: ReadonlyArray<PassageText>): ReadonlyArray<KeyedText> =>
    [...new Map(texts.map(({ hash, text }) => [hash, text]))].map(([hash, text]) => ({
      hash,
      text,
      key: cache === undefined ? "" : sha256(`passage\0${hash}`)
    }))

  const embedTexts = yield* embeddingCalls({ request, lookUp, cache, concurrency, dimension })

  const withBudget = (budget: EmbeddingBudget | undefined): PassageEmbedder => ({
    embed: Effect.fn("PassageEmbedder.embed")(function* (texts) {
      const { cached, embedded } = yield* embedTexts(different(texts), (count) =>
        budget === undefined || spend(budget, count) ? undefined : OVER_BUDGET
      )
      return texts.map(({ hash }) => embedded.get(hash) ?? check(cached.get(hash)))
    }),
    missing: Effect.fn("PassageEmbedder.missing")(function* (texts) {
      const all = different(texts)
      const cached = yield* lookUp(all)
      return all.filter(({ hash }) => !cached.has(hash))
    }),
    isCached: cache !== undefined,
    tokens: (text) => estimateTokens((model.prefixes?.passage ?? "") + text),
    seconds,
    within: withBudget
  })

  return withBudget(undefined)
})

/** Takes one call out of the budget. False if it is exhausted. */
const spend = (budget: EmbeddingBudget, texts: number): boolean => {
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
      "This document needs more embeddings than planned, because the cache of vectors changed. It was skipped; make a new plan."
  })
}

/** Checks length and numbers of a model's vector. The vector 0, which has no direction, becomes undefined. */
export const checkVector = (
  vector: Float32Array | undefined,
  dimension: number,
  model: string,
  stage: Stage
): EmbeddedText => {
  if (vector === undefined) return invalidResponse(stage, model, "no vector for a text")
  if (vector.length !== dimension)
    return invalidResponse(stage, model, `a vector of ${vector.length} numbers instead of ${dimension}`)
  let squares = 0
  for (let i = 0; i < vector.length; i++) squares += vector[i]! * vector[i]!
  if (!Number.isFinite(squares))
    return invalidResponse(stage, model, "a vector with a number that is not finite")
  return { _tag: "Vector", vector: squares === 0 ? undefined : vector }
}

const invalidResponse = (stage: Stage, model: string, what: string): EmbeddedText => {
  const message = `The embedding model ${model} returned ${what}. ${stage === "ingest" ? "None of it was stored. " : ""}Check which model answers.`
  return { _tag: "Failed", error: new RagError({ stage, reason: "Model", message }) }
}

/** A model's failure as a `RagError`. The model's message says what to do. */
export const modelError =
  (stage: Stage) =>
  (cause: GatewayError): RagError => {
    const message = `${asSentence(cause.message)}${stage === "ingest" ? " What succeeded is kept." : ""}`
    return new RagError({ stage, reason: "Model", message, cause })
  }

/** Letters of a word per token: the average of common vocabularies. */
const LETTERS_PER_TOKEN = 6

/** Special tokens that models put around each text. */
const SPECIAL_TOKENS = 2

const PARTS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]|[\p{L}\p{M}]+|\p{N}{1,3}|[^\s\p{L}\p{M}\p{N}]/gu

/** Counts as common vocabularies do. */
export const estimateTokens = (text: string): TokenEstimate => {
  let estimated = SPECIAL_TOKENS
  for (const [part] of text.matchAll(PARTS)) estimated += Math.ceil(part.length / LETTERS_PER_TOKEN)
  const atMost = Buffer.byteLength(text) + SPECIAL_TOKENS
  return { estimated: Math.min(estimated, atMost), atMost }
}
