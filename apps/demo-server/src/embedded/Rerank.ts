/** Reranking by the embedded reranker. */
import { InvalidRequest, type Reranker } from "@sluice/core"
import type { RerankRequest, RerankResponse } from "@sluice/core/contract"
import { countTokensOf } from "@sluice/embedded"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { Operation } from "../routing/Provider.ts"
import { checkQuestion, checkTexts, rejectedBy } from "./InvalidRequests.ts"

const textOf = (document: RerankRequest["documents"][number]): string =>
  typeof document === "string" ? document : document.text

export const rerankOperation = (reranker: Reranker["Service"]): Operation<RerankRequest, RerankResponse> => {
  const { id: model, maxDocuments } = reranker.model
  const reject = rejectedBy("rerank", model)
  return Effect.fnUntraced(function* ({ request }) {
    const { query, documents, top_n, return_documents } = request
    if (documents.length > maxDocuments) {
      const message = `${documents.length} documents. The maximum of ${model} is ${maxDocuments} per request`
      return yield* reject(new InvalidRequest({ message, param: "documents" }))
    }
    const texts = documents.map(textOf)
    yield* Effect.mapError(checkQuestion(query, "query"), reject)
    yield* Effect.mapError(checkTexts(texts, "documents"), reject)
    const topN = Math.min(top_n ?? texts.length, texts.length)
    const passages = texts.map((text) => ({ text }))
    const { results } = yield* reranker.rerank(query, passages, { topN })
    const tokens = yield* countTokensOf([query, ...texts])
    return {
      id: `rerank-${randomUUID()}`,
      model,
      results: results.slice(0, topN).map(({ index, score }) => ({
        index,
        relevance_score: score,
        ...(return_documents === true && { document: { text: texts[index] ?? "" } })
      })),
      usage: { prompt_tokens: tokens, total_tokens: tokens },
      // Some clients require this field.
      meta: { api_version: { version: "1" }, billed_units: { search_units: 0 } }
    }
  })
}
