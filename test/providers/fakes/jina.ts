/** Jina AI, as its public OpenAPI document describes it. A client for the AI SDK decodes its embeddings, and Cohere's its rerank. */
import { VENDOR_KEY } from "../VendorServer.ts"
import { base64, only, ranked, Refusal, routes, vectorAt } from "./Texts.ts"

export const jinaFake = routes(
  {
    "/v1/rerank": (body) => {
      only(body, "model", "query", "documents", "top_n", "return_documents")
      const hasText = body["return_documents"] !== false
      const results = ranked(body["documents"], body["top_n"]).map(({ index, score, text }) => ({
        index,
        relevance_score: score,
        ...(hasText && { document: { text } })
      }))
      return { model: body["model"], object: "list", usage: { total_tokens: 9 }, results }
    },
    "/v1/embeddings": (body) => {
      only(
        body,
        "model",
        "input",
        "task",
        "dimensions",
        "embedding_type",
        "late_chunking",
        "truncate",
        "normalized"
      )
      const { embedding_type: type, task } = body
      if (task !== undefined && !String(task).startsWith("retrieval.")) throw new Refusal(422, "unknown task")
      const data = [body["input"]].flat().map((_, index) => {
        const vector = vectorAt(index)
        return { object: "embedding", index, embedding: type === "base64" ? base64(vector) : vector }
      })
      return { model: body["model"], object: "list", usage: { total_tokens: 4, prompt_tokens: 4 }, data }
    }
  },
  ({ headers }) => headers.authorization === `Bearer ${VENDOR_KEY}`,
  (detail) => ({ detail })
)
