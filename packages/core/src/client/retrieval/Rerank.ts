/** `gateway.rerank` over HTTP. */
import { Effect, Result } from "effect"
import type { HttpClient } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import type { ApiKey } from "../../contract/Credentials.ts"
import { extraOf, refusedExtra } from "../../contract/Fields.ts"
import { RerankRequest, type RerankResponse } from "../../contract/Rerank.ts"
import type { Gateway, Reranked } from "../../gateway/Gateway.ts"
import { GatewayApi } from "../../contract/GatewayApi.ts"
import type { InvalidResponse } from "../../contract/GatewayError.ts"
import type { Answer } from "../transport/Answer.ts"
import type { About, Caller } from "../call/Call.ts"
import { directTo } from "../transport/Direct.ts"
import { rankingOf } from "./Distrust.ts"
import { exchange, judge, requestIdOf } from "../transport/Exchange.ts"
import { factsOf, originOf, tokensOf } from "../transport/Facts.ts"
import { isUsualRerankRequest, usually, usualRerank } from "./Usual.ts"
import type { WholeResponse } from "../transport/Whole.ts"

const RERANK = { group: "rerank", endpoint: "create" } as const

const decode = usually(usualRerank, HttpApiClient.decodeResponse(GatewayApi, RERANK))

/** The ranking that was asked for: `limit` of `count` documents. */
const judged = (
  answer: RerankResponse,
  count: number,
  limit: number
): Result.Result<Reranked, InvalidResponse> =>
  Result.map(rankingOf(answer.results, count, limit), (ranking) => {
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

/** An answer as it usually comes, with nothing wrong in it; anything else is not for this way. */
const usualAnswer =
  (count: number, limit: number) =>
  ({ received }: WholeResponse, bytes: Buffer): Answer<Reranked> | undefined => {
    const answer = usualRerank(bytes)
    const value = answer && judged(answer, count, limit)
    return value && Result.isSuccess(value)
      ? { value: value.success, requestId: requestIdOf(received), facts: factsOf(answer) }
      : undefined
  }

export const makeRerank = Effect.fnUntraced(function* (
  { apiKey }: { readonly apiKey: ApiKey },
  { call, fail }: Caller,
  { baseUrl, httpClient }: { readonly baseUrl: string; readonly httpClient: HttpClient.HttpClient }
) {
  const post = yield* HttpApiClient.endpoint(GatewayApi, { ...RERANK, httpClient })
  const direct = yield* directTo(baseUrl, "/v1/rerank", apiKey)

  const rerank: Gateway["Service"]["rerank"] = (request) => {
    const { documents, extra, model, query, returnDocuments, topN } = request
    const about: About = { operation: "rerank", model }
    const reason = refusedExtra(extra, RerankRequest)
    if (reason !== undefined) return fail(about, { reason, requestId: undefined, unmade: true })
    const count = documents.length
    const limit = Math.min(topN ?? count, count)
    if (limit === 0) return Effect.succeed({ results: [], tokens: 0 })
    const payload = { model, query, documents, top_n: limit, return_documents: returnDocuments }
    const read = (send: Parameters<typeof exchange>[0]) =>
      judge((answer: RerankResponse) => Effect.fromResult(judged(answer, count, limit)))(
        exchange(send, decode)
      )
    const byContract = () =>
      read(post({ payload: { ...payload, ...(extra && { extra }) }, responseMode: "response-only" }))
    const attempt =
      extra === undefined && isUsualRerankRequest(payload)
        ? direct(() => JSON.stringify(payload), usualAnswer(count, limit), read, byContract)
        : Effect.suspend(byContract)
    return Effect.map(call(about, attempt), ({ value }) => value)
  }
  return rerank
})
