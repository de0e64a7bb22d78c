/** DashScope's text: OpenAI's protocol for chat and embeddings, and two of its own for rerank. */
import type { Dialect, InterfaceRequest } from "../protocol/Dialect.ts"
import { embeddingsAt } from "./Embeddings.ts"
import { documentTexts, rankingOf, rerankAt, rerankOptions } from "./Rerank.ts"
import { itemsAt, jsonAt, present } from "./Values.ts"

/** Models of the newer endpoint. The others have the service's own form. */
const isCompatible = ({ model }: InterfaceRequest) => model.startsWith("qwen3-rerank")

const compatible = rerankAt("/compatible-api/v1/reranks")

const embedding = { operation: "embeddings", batch: 10, tokens: 8192, dimension: 1024 } as const

export const dashscopeText = {
  list: { path: "/compatible-mode/v1/models" },
  models: {
    "text-embedding-v4": embedding,
    "text-embedding-v3": embedding,
    "qwen3-rerank": { operation: "rerank", batch: 500, tokens: 4000 },
    "gte-rerank-v2": { operation: "rerank", batch: 500, tokens: 4000 }
  },
  operations: {
    chat: { path: "/compatible-mode/v1/chat/completions" },
    // Other encodings are refused.
    embeddings: embeddingsAt("/compatible-mode/v1/embeddings", ({ dimensions, input }) => ({
      input,
      dimensions,
      encoding_format: "float"
    })),
    rerank: {
      path: (asked) =>
        isCompatible(asked) ? compatible.path : "/api/v1/services/rerank/text-rerank/text-rerank",
      request: (asked) => {
        if (isCompatible(asked)) return compatible.request(asked)
        const input = { query: asked["query"], documents: documentTexts(asked) }
        return {
          model: asked.model,
          input,
          parameters: present({ ...rerankOptions(asked), top_n: asked["top_n"] })
        }
      },
      response: (body, asked) =>
        rankingOf(asked, body, itemsAt(isCompatible(asked) ? body : jsonAt(body, "output"), "results"))
    }
  }
} satisfies Partial<Dialect>
