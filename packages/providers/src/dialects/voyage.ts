/** Voyage AI: embeddings and rerank. */
import type { Dialect } from "../protocol/Dialect.ts"
import { embeddingsOf, inputType, orderedVectors, wantsBase64 } from "../text/Embeddings.ts"
import { documentTexts, rankingOf, rerankOptions } from "../text/Rerank.ts"
import { itemsAt, numberAt, present } from "../text/Values.ts"

const embedding = { operation: "embeddings", batch: 128, tokens: 32_000, dimension: 1024 } as const
const rerank = { operation: "rerank", batch: 1000 } as const

export const voyage: Dialect = {
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
    rerank: {
      path: "/v1/rerank",
      request: (asked) =>
        present({
          ...rerankOptions(asked),
          model: asked.model,
          query: asked["query"],
          documents: documentTexts(asked),
          top_k: asked["top_n"]
        }),
      response: (body, asked) =>
        rankingOf(asked, itemsAt(body, "data"), { tokens: numberAt(body, "usage", "total_tokens") })
    },
    embeddings: {
      path: "/v1/embeddings",
      request: (asked) => {
        const { dimensions, encoding_format: _, ...options } = asked
        return present({
          ...options,
          input_type: inputType(asked, { query: "query", document: "document" }),
          // `float` is refused.
          encoding_format: wantsBase64(asked) ? "base64" : undefined,
          output_dimension: dimensions
        })
      },
      response: (body, asked) =>
        embeddingsOf(asked, orderedVectors(body), numberAt(body, "usage", "total_tokens"))
    }
  }
}
