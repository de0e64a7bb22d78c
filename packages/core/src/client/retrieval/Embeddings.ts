/** `gateway.embeddings` over HTTP. */
import { Effect } from "effect"
import { type HttpClient, HttpClientResponse } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { decodeVector, isFiniteVector } from "../../contract/Base64.ts"
import { EmbeddingRequest, EmbeddingResponse } from "../../contract/Embeddings.ts"
import { extraOf, validateExtra } from "../../contract/Fields.ts"
import { GatewayApi } from "../../contract/GatewayApi.ts"
import { InvalidResponse } from "../../contract/GatewayError.ts"
import type { Embeddings, Gateway } from "../../gateway/Gateway.ts"
import type { Caller } from "../call/Caller.ts"
import type { CallInfo } from "../call/CallInfo.ts"
import { originOf, tokensOf } from "../transport/CallResult.ts"
import { mapResult, sendAndDecode } from "../transport/SendAndDecode.ts"
import { type EmbedOptions, makeEmbedAll } from "./EmbedAll.ts"

const decode = HttpClientResponse.schemaBodyJson(EmbeddingResponse)

const invalid = (message: string) => Effect.fail(new InvalidResponse({ message }))

/** One finite vector for each of `count` texts, in their order, all of one dimension. */
const validateEmbeddings =
  (count: number) =>
  (response: EmbeddingResponse): Effect.Effect<Embeddings, InvalidResponse> => {
    const { data, usage } = response
    if (data.length !== count) return invalid(`The response has ${data.length} vectors for ${count} texts.`)
    const vectors = Array.from<Float32Array | undefined>({ length: count })
    let dimension: number | undefined
    for (const { embedding, index } of data) {
      if (index < 0 || index >= count) {
        return invalid(`The response has a vector for text ${index} of ${count}.`)
      }
      if (vectors[index] !== undefined) return invalid(`The response has two vectors for text ${index}.`)
      const vector = typeof embedding === "string" ? decodeVector(embedding) : Float32Array.from(embedding)
      if (vector === undefined || vector.length === 0) {
        return invalid(`The vector of text ${index} is not Base64 of float32 numbers.`)
      }
      dimension ??= vector.length
      if (vector.length !== dimension) {
        return invalid(`The response has vectors of ${dimension} and of ${vector.length} numbers.`)
      }
      if (!isFiniteVector(vector))
        return invalid(`The vector of text ${index} has a number that is not finite.`)
      vectors[index] = vector
    }
    const extra = extraOf(response)
    return Effect.succeed({
      vectors: vectors.filter((vector) => vector !== undefined),
      tokens: tokensOf(usage?.total_tokens),
      ...originOf(response),
      ...(extra !== undefined && { extra: [extra] })
    })
  }

export const makeEmbeddings = Effect.fnUntraced(function* (
  options: EmbedOptions | undefined,
  { call, fail }: Caller,
  httpClient: HttpClient.HttpClient
) {
  const { create: post } = yield* HttpApiClient.group(GatewayApi, { group: "embeddings", httpClient })
  const embedAll = makeEmbedAll(options ?? {})

  const embeddings: Gateway["Service"]["embeddings"] = Effect.fn("Gateway.embeddings")((request) => {
    const { extra, model } = request
    const info: CallInfo = { operation: "embeddings", model }
    const reason = validateExtra(extra, EmbeddingRequest)
    if (reason !== undefined) return fail(info, { reason, notExecuted: true })
    return embedAll(request, ({ texts }) => {
      const payload = { model, input: texts, encoding_format: "base64", ...(extra && { extra }) } as const
      const attempt = sendAndDecode(post({ payload, responseMode: "response-only" }), decode)
      return call(info, mapResult(validateEmbeddings(texts.length))(attempt))
    })
  })
  return embeddings
})
