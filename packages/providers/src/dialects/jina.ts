/** Jina AI: embeddings and rerank. */
import type { Dialect } from "../protocol/Dialect.ts"
import { embeddingsOf, inputType, orderedVectors, wantsBase64 } from "../text/Embeddings.ts"
import { documentTexts, rankingOf, rerankOptions } from "../text/Rerank.ts"
import { itemsAt, numberAt, present } from "../text/Values.ts"

const rerank = { operation: "rerank", batch: 1000 } as const

export const jina: Dialect = {
  id: "jina",
  name: "Jina AI",
  url: "https://api.jina.ai/v1",
  keyVariable: "JINA_API_KEY",
  hasInputType: true,
  models: {
    "jina-embeddings-v4": { operation: "embeddings", batch: 512, tokens: 32_768, dimension: 2048 },
    "jina-embeddings-v3": { operation: "embeddings", batch: 512, tokens: 8192, dimension: 1024 },
    "jina-reranker-v3": { ...rerank, tokens: 131_072 },
    "jina-reranker-v2-base-multilingual": { ...rerank, tokens: 8192 }
  },
  operations: {
    rerank: {
      path: "/v1/rerank",
      request: (asked) =>
        present({
          ...rerankOptions(asked),
          model: asked.model,
          query: asked["query"],
          documents: documentTexts(asked),
          top_n: asked["top_n"],
          // The default is to return them all.
          return_documents: false
        }),
      response: (body, asked) =>
        rankingOf(asked, itemsAt(body, "results"), { tokens: numberAt(body, "usage", "total_tokens") })
    },
    embeddings: {
      path: "/v1/embeddings",
      request: (asked) => {
        const { encoding_format: _, input_type: __, ...options } = asked
        return present({
          task: inputType(asked, { query: "retrieval.query", document: "retrieval.passage" }),
          ...options,
          embedding_type: wantsBase64(asked) ? "base64" : "float"
        })
      },
      response: (body, asked) =>
        embeddingsOf(asked, orderedVectors(body), numberAt(body, "usage", "total_tokens"))
    }
  }
}
