/** `gateway.embeddings` over HTTP. */
import { Effect, Result } from "effect"
import { type HttpClient, HttpClientResponse } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { EmbeddingRequest, EmbeddingResponse } from "../../contract/Embeddings.ts"
import { extraOf, validateExtra } from "../../contract/Fields.ts"
import type { Embeddings, Gateway } from "../../gateway/Gateway.ts"
import { GatewayApi } from "../../contract/GatewayApi.ts"
import type { InvalidResponse } from "../../contract/GatewayError.ts"
import type { CallInfo, Caller } from "../call/Caller.ts"
import { validateVectors } from "./validateResponse.ts"
import { type EmbedOptions, makeEmbedAll } from "./EmbedAll.ts"
import { sendAndDecode, mapResult } from "../transport/SendAndDecode.ts"
import { originOf, tokensOf } from "../transport/CallResult.ts"

const EMBEDDINGS = { group: "embeddings", endpoint: "create" } as const

const decode = HttpClientResponse.schemaBodyJson(EmbeddingResponse)

/** A vector for each of `count` texts. */
const validated = (answer: EmbeddingResponse, count: number): Result.Result<Embeddings, InvalidResponse> =>
  Result.map(validateVectors(answer.data, count), (vectors) => {
    const extra = extraOf(answer)
    return {
      vectors,
      tokens: tokensOf(answer.usage?.total_tokens),
      ...originOf(answer),
      ...(extra !== undefined && { extra: [extra] })
    }
  })

export const makeEmbeddings = Effect.fnUntraced(function* (
  options: EmbedOptions | undefined,
  { call, fail }: Caller,
  httpClient: HttpClient.HttpClient
) {
  const post = yield* HttpApiClient.endpoint(GatewayApi, { ...EMBEDDINGS, httpClient })
  const embedAll = makeEmbedAll(options ?? {})

  const embeddings: Gateway["Service"]["embeddings"] = Effect.fn("Gateway.embeddings")((request) => {
    const { extra, model } = request
    const info: CallInfo = { operation: "embeddings", model }
    const reason = validateExtra(extra, EmbeddingRequest)
    if (reason !== undefined) return fail(info, { reason, requestId: undefined, notExecuted: true })
    return embedAll(request, ({ texts }) => {
      const payload = { model, input: texts, encoding_format: "base64", ...(extra && { extra }) } as const
      const attempt = mapResult((answer: EmbeddingResponse) =>
        Effect.fromResult(validated(answer, texts.length))
      )(sendAndDecode(post({ payload, responseMode: "response-only" }), decode))
      return call(info, attempt)
    })
  })
  return embeddings
})
