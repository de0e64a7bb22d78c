/** What a well-formed answer is still not believed: positions, numbers, dimensions. */
import { Result } from "effect"
import type { RerankResponse } from "../../contract/Rerank.ts"
import { decodeVector, isFiniteVector } from "../../contract/Base64.ts"
import { InvalidResponse } from "../../contract/GatewayError.ts"
import type { EmbeddingResponse } from "../../contract/Embeddings.ts"

const invalid = (message: string) => Result.fail(new InvalidResponse({ message }))

const vectorOf = (embedding: EmbeddingResponse["data"][number]["embedding"]) =>
  typeof embedding === "string" ? decodeVector(embedding) : Float32Array.from(embedding)

/** The vectors in the order of the texts: one each, of one dimension, finite. */
export const validateVectors = (
  data: EmbeddingResponse["data"],
  count: number
): Result.Result<ReadonlyArray<Float32Array>, InvalidResponse> => {
  if (data.length !== count) return invalid(`${data.length} vectors came for ${count} texts.`)
  const vectors = Array.from<Float32Array | undefined>({ length: count })
  let dimension: number | undefined
  for (const { index, embedding } of data) {
    if (index < 0 || index >= count) return invalid(`A vector came for text ${index} of ${count}.`)
    if (vectors[index] !== undefined) return invalid(`Two vectors came for text ${index}.`)
    const vector = vectorOf(embedding)
    if (vector === undefined || vector.length === 0) {
      return invalid(`The vector of text ${index} is no base64 of float32 numbers.`)
    }
    dimension ??= vector.length
    if (vector.length !== dimension) {
      return invalid(`Vectors of ${dimension} and of ${vector.length} numbers came in one answer.`)
    }
    if (!isFiniteVector(vector))
      return invalid(`The vector of text ${index} has a number that is not finite.`)
    vectors[index] = vector
  }
  return Result.succeed(vectors.filter((vector) => vector !== undefined))
}

/** The results best first, equal scores in the order of the documents, at most `limit` of them. */
export const validateRanking = (
  results: RerankResponse["results"],
  count: number,
  limit: number
): Result.Result<ReadonlyArray<RerankResponse["results"][number]>, InvalidResponse> => {
  const seen = new Set<number>()
  for (const { index } of results) {
    if (index < 0 || index >= count) return invalid(`A score came for document ${index} of ${count}.`)
    if (seen.has(index)) return invalid(`Two scores came for document ${index}.`)
    seen.add(index)
  }
  if (seen.size < limit) return invalid(`${seen.size} scores came where ${limit} were asked for.`)
  const sorted = results.toSorted((a, b) => b.relevance_score - a.relevance_score || a.index - b.index)
  return Result.succeed(sorted.slice(0, limit))
}
