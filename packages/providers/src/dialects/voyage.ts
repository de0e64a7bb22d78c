/** Voyage AI: embeddings and rerank. */
import type { Dialect } from "../protocol/Dialect.ts"
import { embeddingsAt, inputType, wantsBase64 } from "../text/Embeddings.ts"
import { rerankAt } from "../text/Rerank.ts"

const embedding = { operation: "embeddings", batch: 128, tokens: 32_000, dimension: 1024 } as const
const rerank = { operation: "rerank", batch: 1000 } as const

export const voyage = {
  id: "voyage",
  name: "Voyage AI",
  url: "https://api.voyageai.com/v1",
  keyVariable: "VOYAGE_API_KEY",
  hasInputType: true,
  models: {
    "voyage-3.5": embedding,
    "voyage-3.5-lite": embedding,
    "voyage-3-large": embedding,
    "voyage-code-3": embedding,
    "rerank-2.5": { ...rerank, tokens: 32_000 },
    "rerank-2.5-lite": { ...rerank, tokens: 32_000 }
  },
  operations: {
    rerank: rerankAt("/v1/rerank", { topN: "top_k", results: "data" }),
    embeddings: embeddingsAt("/v1/embeddings", (asked) => ({
      input: asked["input"],
      input_type: inputType(asked, { query: "query", document: "document" }),
      output_dimension: asked["dimensions"],
      // `float` is refused.
      encoding_format: wantsBase64(asked) ? "base64" : undefined
    }))
  }
} as const satisfies Dialect
