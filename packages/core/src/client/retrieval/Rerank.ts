/** `gateway.rerank` over HTTP. */
import { Effect } from "effect"
import { extraOf, validateExtra } from "../../contract/Fields.ts"
import { GatewayApi } from "../../contract/GatewayApi.ts"
import { InvalidResponse } from "../../contract/GatewayError.ts"
import { RerankRequest, RerankResponse } from "../../contract/Rerank.ts"
import type { Gateway, RerankAnswer } from "../../gateway/Gateway.ts"
import { tolerateRanking } from "../../tolerance/Retrieval.ts"
import type { Caller } from "../call/Caller.ts"
import type { CallInfo } from "../call/CallInfo.ts"
import { originOf, tokensOf } from "../transport/CallResult.ts"
import { decodeJson } from "../transport/DecodeJson.ts"
import type { Send } from "../transport/Send.ts"
import { mapResult, sendAndDecode } from "../transport/SendAndDecode.ts"

const decode = decodeJson(RerankResponse, tolerateRanking)

const invalid = (message: string) => Effect.fail(new InvalidResponse({ message }))

/** The best `limit` of `count` documents: best first, equal scores by index. */
const validateRanking =
  (count: number, limit: number) =>
  (response: RerankResponse): Effect.Effect<RerankAnswer, InvalidResponse> => {
    const { meta, results, usage } = response
    const seen = new Set<number>()
    for (const { index } of results) {
      if (index < 0 || index >= count) {
        return invalid(`The response has a score for document ${index} of ${count}.`)
      }
      if (seen.has(index)) return invalid(`The response has two scores for document ${index}.`)
      seen.add(index)
    }
    if (seen.size < limit) return invalid(`The response has ${seen.size} scores instead of ${limit}.`)
    const ranking = results
      .toSorted((a, b) => b.relevance_score - a.relevance_score || a.index - b.index)
      .slice(0, limit)
    const extra = extraOf(response)
    return Effect.succeed({
      results: ranking.map(({ document, index, relevance_score: score }) =>
        document === undefined ? { index, score } : { index, score, document: document.text }
      ),
      tokens: tokensOf(usage?.total_tokens),
      ...originOf(response),
      ...(meta && { meta }),
      ...(extra !== undefined && { extra })
    })
  }

export const makeRerank = ({ call, fail }: Caller, send: Send): Gateway["Service"]["rerank"] => {
  const post = send(GatewayApi.groups.rerank.endpoints.create)

  return (request) => {
    const { documents, extra, model, query, returnDocuments, topN } = request
    const info: CallInfo = { operation: "rerank", model, repeat: "paid" }
    const reason = validateExtra(extra, RerankRequest)
    if (reason !== undefined) return fail(info, { reason, notExecuted: true })
    const limit = Math.min(topN ?? documents.length, documents.length)
    if (limit === 0) return Effect.succeed({ results: [], tokens: 0 })
    const payload = {
      model,
      query,
      documents,
      top_n: limit,
      return_documents: returnDocuments,
      ...(extra && { extra })
    }
    const attempt = sendAndDecode(post({ payload }), decode)
    return call(info, mapResult(validateRanking(documents.length, limit))(attempt))
  }
}
