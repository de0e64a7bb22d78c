/** DashScope's text: OpenAI's protocol for chat and embeddings, and two of its own for rerank. */
import type { Dialect, InterfaceRequest } from "../protocol/Dialect.ts"
import { embeddingsOf, orderedVectors } from "./Embeddings.ts"
import { documentTexts, rankingOf, rerankOptions } from "./Rerank.ts"
import { itemsAt, jsonAt, numberAt, present } from "./Values.ts"

/** Models of the newer endpoint. The others have the service's own form. */
const isCompatible = ({ model }: InterfaceRequest) => model.startsWith("qwen3-rerank")

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
    embeddings: {
      path: "/compatible-mode/v1/embeddings",
      // Other encodings are refused.
      request: (asked) => ({ ...asked, encoding_format: "float" }),
      response: (body, asked) =>
        embeddingsOf(asked, orderedVectors(body), numberAt(body, "usage", "total_tokens"))
    },
    rerank: {
      path: (asked) =>
        isCompatible(asked)
          ? "/compatible-api/v1/reranks"
          : "/api/v1/services/rerank/text-rerank/text-rerank",
      request: (asked) => {
        const input = { query: asked["query"], documents: documentTexts(asked) }
        const parameters = present({ ...rerankOptions(asked), top_n: asked["top_n"] })
        return isCompatible(asked)
          ? { model: asked.model, ...input, ...parameters }
          : { model: asked.model, input, parameters }
      },
      response: (body, asked) =>
        rankingOf(asked, itemsAt(isCompatible(asked) ? body : jsonAt(body, "output"), "results"), {
          id: jsonAt(body, "id") ?? jsonAt(body, "request_id"),
          tokens: numberAt(body, "usage", "total_tokens")
        })
    }
  }
} satisfies Partial<Dialect>
