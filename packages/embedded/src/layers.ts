/** The models of this process as layers. */
import { Embedder, type GatewayError, Reader, Reranker, Verifier } from "@sluice/core"
import { followsQuotes, unsupportedReason } from "@sluice/core/text"
import type {
  Candidate,
  EmbeddingResult,
  EmbedderModel,
  ReaderModel,
  ReaderPassage,
  RerankerModel,
  RerankOptions,
  VerifierModel
} from "@sluice/core/models"
import { Effect, Layer, Stream } from "effect"
import * as modelJobs from "./modelJobs.ts"
import { runModel } from "./pool.ts"
import { DIMENSION } from "./text/features.ts"

/** Lexical, 1024 dimensions, English and Chinese; free. */
export const embedderModel: EmbedderModel = { id: "sluice-lexical-1024", kind: "lexical", free: true }

/** `Embedder` by `embedText`. It counts no tokens because they cost nothing. */
export const layerEmbedder: Layer.Layer<Embedder> = Layer.succeed(Embedder, {
  model: embedderModel,
  dimension: Effect.succeed(DIMENSION),
  embed: Effect.fn("sluice.embed")(function* (texts, purpose) {
    const vectors = yield* runModel({
      operation: "embeddings",
      model: embedderModel.id,
      job: "embed",
      run: modelJobs.embed,
      input: { texts, purpose },
      texts
    })
    return { vectors, tokens: 0 } satisfies EmbeddingResult
  })
})

/** Lexical: it depends on the query, the documents and the priors alone. */
export const rerankerModel: RerankerModel = {
  id: "sluice-lexical-rerank",
  kind: "lexical",
  maxDocuments: 1000
}

/** `Reranker` by `rerankScores`. It counts no tokens because they cost nothing. */
export const layerReranker: Layer.Layer<Reranker> = Layer.succeed(Reranker, {
  model: rerankerModel,
  rerank: Effect.fn("sluice.rerank")(function* (
    query: string,
    documents: ReadonlyArray<Candidate>,
    options?: RerankOptions
  ) {
    const results = yield* runModel({
      operation: "rerank",
      model: rerankerModel.id,
      job: "rankDocuments",
      run: modelJobs.rankDocuments,
      input: { query, documents, options },
      texts: documents.map(({ text }) => text),
      query
    })
    return { results, tokens: 0 }
  })
})

/** Extractive, English and Chinese: it quotes sentences and writes none. */
export const readerModel: ReaderModel = { id: "sluice-extractive", kind: "extractive" }

/** The sentences that answer a question. See `readSentences`. */
export const readPassages = (model: string, question: string, passages: ReadonlyArray<ReaderPassage>) =>
  runModel({
    operation: "chat",
    model,
    job: "read",
    run: modelJobs.read,
    input: { question, passages },
    texts: passages.map(({ text }) => text),
    cost: 3,
    query: question
  })

/** `Reader` by `readSentences`. It reads only when the stream is pulled. */
export const layerReader: Layer.Layer<Reader> = Layer.succeed(Reader, {
  model: readerModel,
  read: (question, passages) =>
    Stream.fromIterableEffect(readPassages(readerModel.id, question, passages)).pipe(
      Stream.withSpan("sluice.read")
    )
})

/** Lexical: it compares numbers, negations, names and words. */
export const verifierModel: VerifierModel = { id: "sluice-lexical-verify", kind: "lexical" }

const verifyWith =
  (reasonOf: typeof unsupportedReason): Verifier["Service"]["verify"] =>
  (claims) =>
    Effect.sync(() => ({
      doubts: claims.map(({ context, quotes, sentence }) => reasonOf(sentence, quotes.join("\n"), context)),
      tokens: 0
    }))

/** `Verifier` by `unsupportedReason`. It sees few of the contradictions that people write; see docs/explanation/answers.md. */
export const layerVerifier: Layer.Layer<Verifier> = Layer.succeed(Verifier, {
  model: verifierModel,
  verify: verifyWith(unsupportedReason)
})

/**
 * `layerVerifier` that also doubts each sentence with a word that is not in its quotes, or in another order than there. Few
 * paraphrases stay; see docs/explanation/answers.md.
 */
export const layerStrictVerifier: Layer.Layer<Verifier> = Layer.succeed(Verifier, {
  model: { id: "sluice-lexical-verify-strict", kind: "lexical" },
  verify: verifyWith(
    (sentence, quotes, context) =>
      unsupportedReason(sentence, quotes, context) ??
      (followsQuotes(sentence, quotes) ? undefined : "It is not in the words of its quotes.")
  )
})

/** The words and CJK characters of some texts. */
export const countTokensOf = (texts: ReadonlyArray<string>): Effect.Effect<number, GatewayError> =>
  runModel({
    operation: "tokens",
    model: embedderModel.id,
    job: "count",
    run: modelJobs.count,
    input: texts,
    texts
  })

/** All three: deterministic, no key, no network, no weights. */
export const layer: Layer.Layer<Embedder | Reranker | Reader> = Layer.mergeAll(
  layerEmbedder,
  layerReranker,
  layerReader
)
