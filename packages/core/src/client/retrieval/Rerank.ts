/** `gateway.rerank` over HTTP. */
import { Effect, Result } from "effect"
import { type HttpClient, HttpClientResponse } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { extraOf, validateExtra } from "../../contract/Fields.ts"
import { RerankRequest, RerankResponse } from "../../contract/Rerank.ts"
import type { Gateway, RerankAnswer } from "../../gateway/Gateway.ts"
import { GatewayApi } from "../../contract/GatewayApi.ts"
import type { InvalidResponse } from "../../contract/GatewayError.ts"
import type { CallInfo, Caller } from "../call/Caller.ts"
import { validateRanking } from "./validateResponse.ts"
import { sendAndDecode, mapResult } from "../transport/SendAndDecode.ts"
import { originOf, tokensOf } from "../transport/CallResult.ts"

const RERANK = { group: "rerank", endpoint: "create" } as const

const decode = HttpClientResponse.schemaBodyJson(RerankResponse)

/** The ranking that was asked for: `limit` of `count` documents. */
const validated = (
  answer: RerankResponse,
  count: number,
  limit: number
): Result.Result<RerankAnswer, InvalidResponse> =>
  Result.map(validateRanking(answer.results, count, limit), (ranking) => {
    const extra = extraOf(answer)
    return {
      results: ranking.map(({ document, index, relevance_score: score }) =>
        document === undefined ? { index, score } : { index, score, document: document.text }
      ),
      tokens: tokensOf(answer.usage?.total_tokens),
      ...originOf(answer),
      ...(answer.meta && { meta: answer.meta }),
      ...(extra !== undefined && { extra })
    }
  })

export const makeRerank = Effect.fnUntraced(function* (
  { call, fail }: Caller,
  httpClient: HttpClient.HttpClient
) {
  const post = yield* HttpApiClient.endpoint(GatewayApi, { ...RERANK, httpClient })

  const rerank: Gateway["Service"]["rerank"] = (request) => {
    const { documents, extra, model, query, returnDocuments, topN } = request
    const info: CallInfo = { operation: "rerank", model }
    const reason = validateExtra(extra, RerankRequest)
    if (reason !== undefined) return fail(info, { reason, requestId: undefined, notExecuted: true })
    const count = documents.length
    const limit = Math.min(topN ?? count, count)
    if (limit === 0) return Effect.succeed({ results: [], tokens: 0 })
    const payload = {
      model,
      query,
      documents,
      top_n: limit,
      return_documents: returnDocuments,
      ...(extra && { extra })
    }
    const attempt = mapResult((answer: RerankResponse) => Effect.fromResult(validated(answer, count, limit)))(
      sendAndDecode(post({ payload, responseMode: "response-only" }), decode)
    )
    return call(info, attempt)
  }
  return rerank
})
