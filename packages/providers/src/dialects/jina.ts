/** Jina AI: embeddings and rerank. */
import type { Dialect } from "../protocol/Dialect.ts"
import { embeddingsAt, inputType, wantsBase64 } from "../text/Embeddings.ts"
import { rerankAt } from "../text/Rerank.ts"

export const jina = {
  id: "jina",
  name: "Jina AI",
  url: "https://api.jina.ai/v1",
  keyVariable: "JINA_API_KEY",
  hasInputType: true,
  models: {
    "jina-embeddings-v4": { operation: "embeddings", batch: 512, tokens: 32_768, dimension: 2048 },
    "jina-embeddings-v3": { operation: "embeddings", batch: 512, tokens: 8192, dimension: 1024 },
    "jina-reranker-v3": { operation: "rerank", tokens: 131_072 },
    "jina-reranker-v2-base-multilingual": { operation: "rerank", tokens: 1024 }
  },
  operations: {
    // The vendor repeats the documents unless it is told not to.
    rerank: rerankAt("/v1/rerank", { fields: { return_documents: false } }),
    embeddings: embeddingsAt("/v1/embeddings", (asked) => ({
      input: asked["input"],
      task: asked["task"] ?? inputType(asked, { query: "retrieval.query", document: "retrieval.passage" }),
      dimensions: asked["dimensions"],
      embedding_type: wantsBase64(asked) ? "base64" : "float"
    }))
  }
} as const satisfies Dialect
