/** Recall of the vector index, compared with exact search. */
import { Embedder } from "@sluice/core"
import type { LibraryStats } from "@sluice/rag"
import { type Collection, FORMAT, LanceIndex, PassageIndex } from "@sluice/rag/store"
import { Effect, Layer } from "effect"
import { embeddedText } from "../../packages/rag/src/document/SearchText.ts"

const K = 20
/** Texts per embedding call. */
const BATCH = 256

interface Near {
  readonly id: string
  readonly similarity: number
}

const dot = (a: Float32Array, b: Float32Array): number => {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum
}

/** Finds the 20 nearest passages of each question by exact search. */
export const exactly = (questions: ReadonlyArray<Float32Array>) => {
  const nearest = questions.map((): Array<Near> => [])
  return {
    consider: (passages: ReadonlyArray<{ readonly id: string; readonly vector: Float32Array }>): void =>
      questions.forEach((question, i) => {
        const near = nearest[i]!
        for (const { id, vector } of passages) {
          const similarity = dot(question, vector)
          if (near.length === K && similarity <= near[K - 1]!.similarity) continue
          const place = near.findIndex((other) => other.similarity < similarity)
          near.splice(place < 0 ? near.length : place, 0, { id, similarity })
          if (near.length > K) near.pop()
        }
      }),
    /** Recall@20 of a collection's search, 0 to 1. */
    recall: Effect.fn("bench.recall")(function* (collection: Collection) {
      let found = 0
      let due = 0
      for (const [i, vector] of questions.entries()) {
        const near = nearest[i]!
        const hits = yield* collection.search({ vector, limit: K })
        // Equal texts have equal vectors: a tie with the last one counts as found.
        const least = (near.at(-1)?.similarity ?? 0) - 1e-6
        due += near.length
        found += hits.filter(({ similarity = 0 }) => similarity >= least).slice(0, near.length).length
      }
      return found / Math.max(1, due)
    })
  }
}

/** Recall@20 of the vector search, 0 to 1. Embeds every passage of the library again and compares it with every question. */
export const recallOfExact = Effect.fn("bench.recallOfExact")(function* (
  folder: string,
  { chunker, collection: name, dimension, embeddingModel }: LibraryStats,
  questions: ReadonlyArray<string>
) {
  const { embed } = yield* Embedder
  const store = yield* Layer.build(LanceIndex.layer(folder))
  const collection = yield* Effect.flatMap(PassageIndex, (index) =>
    index.open(name, { format: FORMAT, embeddingModel, dimension, chunker })
  ).pipe(Effect.provideContext(store))
  const { vectors } = yield* embed(questions, "query")
  const exact = exactly(vectors)
  const consider = Effect.fn("bench.consider")(function* (
    waiting: ReadonlyArray<{ id: string; text: string }>
  ) {
    const passages = yield* embed(
      waiting.map(({ text }) => text),
      "passage"
    )
    exact.consider(waiting.map(({ id }, i) => ({ id, vector: passages.vectors[i]! })))
  })
  let waiting: Array<{ id: string; text: string }> = []
  for (const { id } of yield* collection.documents) {
    for (const passage of yield* collection.passages(id))
      waiting.push({ id: passage.id, text: embeddedText(passage.document.title, passage) })
    if (waiting.length < BATCH) continue
    yield* consider(waiting)
    waiting = []
  }
  yield* consider(waiting)
  return yield* exact.recall(collection)
}, Effect.scoped)
