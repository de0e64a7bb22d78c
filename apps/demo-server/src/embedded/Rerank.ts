/** Rerank by a reranker of this process. */
import { InvalidRequest, type Reranker } from "@sluice/core"
import type { RerankRequest, RerankResponse } from "@sluice/core/contract"
import { countTokens } from "@sluice/embedded"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { Operation } from "../routing/Provider.ts"
import { refusedLength } from "./Embeddings.ts"
import { refusing } from "./Refusing.ts"

const textOf = (document: RerankRequest["documents"][number]): string =>
  typeof document === "string" ? document : document.text

/** Documents go in as they are; only their indices come back. */
export const rerank = (reranker: Reranker["Service"]): Operation<RerankRequest, RerankResponse> => {
  const { id: model, maxDocuments } = reranker.model
  const refuse = refusing("rerank", model)
  return Effect.fnUntraced(function* ({ request }) {
    const { query, documents, top_n, return_documents } = request
    if (documents.length > maxDocuments) {
      const message = `${documents.length} documents: ${model} takes ${maxDocuments} at most in one request`
      return yield* refuse(new InvalidRequest({ message, param: "documents" }))
    }
    const texts = documents.map(textOf)
    const tooLong = refusedLength([query, ...texts], "documents")
    if (tooLong !== undefined) return yield* refuse(tooLong)
    const topN = Math.min(top_n ?? texts.length, texts.length)
    const { results } = yield* reranker.rerank(
      query,
      texts.map((text) => ({ text })),
      { topN }
    )
    const tokens = texts.reduce((sum, text) => sum + countTokens(text), countTokens(query))
    return {
      id: `rerank-${randomUUID()}`,
      model,
      results: results.slice(0, topN).map(({ index, score }) => ({
        index,
        relevance_score: score,
        ...(return_documents === true && { document: { text: texts[index] ?? "" } })
      })),
      usage: { prompt_tokens: tokens, total_tokens: tokens },
      // Nothing is billed; some clients want the key.
      meta: { api_version: { version: "1" }, billed_units: { search_units: 0 } }
    }
  })
}
