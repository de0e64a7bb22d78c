/** Small real models for these tests: words hashed into 64 slots, overlap of words, sentences that share words. */
import { Embedder, Reader, Reranker } from "@sluice/core"
import { Effect, Layer, Ref, Stream } from "effect"

export const DIMENSION = 64

const wordsOf = (text: string): ReadonlyArray<string> => text.toLowerCase().match(/\p{L}+|\p{N}+/gu) ?? []

const hash = (word: string): number => {
  let value = 2166136261
  for (let i = 0; i < word.length; i++) value = Math.imul(value ^ word.charCodeAt(i), 16777619)
  return value >>> 0
}

export const embedText = (text: string, dimension = DIMENSION): Float32Array => {
  const vector = new Float32Array(dimension)
  for (const word of wordsOf(text)) {
    const value = hash(word)
    const slot = value % dimension
    vector[slot] = vector[slot]! + (value & 0x10000 ? 1 : -1)
  }
  const norm = Math.hypot(...vector)
  return norm === 0 ? vector : vector.map((value) => value / norm)
}

/** An embedder and how many texts it was asked to embed as passages. */
export const countingEmbedder = (options: { id?: string; dimension?: number; free?: boolean } = {}) =>
  Effect.gen(function* () {
    const count = yield* Ref.make(0)
    const dimension = options.dimension ?? DIMENSION
    const layer = Layer.succeed(
      Embedder,
      Embedder.of({
        model: { id: options.id ?? "test-words", kind: "lexical", free: options.free ?? true },
        dimension: Effect.succeed(dimension),
        embed: (texts, purpose) =>
          Effect.as(
            Ref.update(count, (n) => n + (purpose === "passage" ? texts.length : 0)),
            {
              vectors: texts.map((text) => embedText(text, dimension)),
              tokens: 0
            }
          )
      })
    )
    return { layer, count: Ref.get(count) }
  })

export const embedderLayer = Layer.unwrap(Effect.map(countingEmbedder(), ({ layer }) => layer))

const overlap = (query: string, text: string): number => {
  const words = new Set(wordsOf(text))
  return wordsOf(query).filter((word) => words.has(word)).length
}

export const rerankerLayer = Layer.succeed(
  Reranker,
  Reranker.of({
    model: { id: "test-overlap", kind: "lexical", maxDocuments: 100 },
    rerank: (query, documents) =>
      Effect.succeed({
        results: documents
          .map(({ text, title }, index) => ({ index, score: overlap(query, `${title ?? ""} ${text}`) }))
          .toSorted((a, b) => b.score - a.score || a.index - b.index),
        tokens: 0
      })
  })
)

/** The sentence that shares most words with the question, when it shares more than two. */
export const readerLayer = Layer.succeed(
  Reader,
  Reader.of({
    model: { id: "test-sentences", kind: "extractive" },
    read: (question, passages) => {
      const best = passages
        .flatMap(({ text }, passage) =>
          (text.match(/[^.\n]+\./g) ?? []).map((sentence) => ({
            passage,
            quote: sentence.trim(),
            score: overlap(question, sentence)
          }))
        )
        .toSorted((a, b) => b.score - a.score)[0]
      return best === undefined || best.score < 3
        ? Stream.empty
        : Stream.succeed({ text: best.quote, evidence: [{ passage: best.passage, quote: best.quote }] })
    }
  })
)

export const modelsLayer = Layer.mergeAll(embedderLayer, rerankerLayer, readerLayer)
