/** SiliconFlow: OpenAI's protocol for chat and embeddings, a rerank that counts tokens elsewhere, and its own media. */
import { vendorError, idAt } from "../media/MediaResponse.ts"
import { SILICONFLOW_NAMES, siliconflowImages, siliconflowVideos } from "../media/siliconflowMedia.ts"
import type { Dialect } from "../protocol/Dialect.ts"
import { gateway } from "../protocol/GatewayDialect.ts"
import { rerankAt } from "../text/Rerank.ts"
import { jsonAt } from "../text/Values.ts"

const { chat, embeddings } = gateway.operations

export const siliconflow: Dialect = {
  id: "siliconflow",
  name: "SiliconFlow",
  url: "https://api.siliconflow.com/v1",
  keyVariable: "SILICONFLOW_API_KEY",
  list: { path: "/v1/models" },
  models: {
    "BAAI/bge-m3": { operation: "embeddings", batch: 32, tokens: 8192, dimension: 1024 },
    "BAAI/bge-reranker-v2-m3": { operation: "rerank", tokens: 8192 },
    "Qwen/Qwen3-Embedding-8B": { operation: "embeddings", batch: 32, tokens: 32_768, dimension: 4096 },
    "Qwen/Qwen3-Reranker-8B": { operation: "rerank", tokens: 32_768 }
  },
  operations: {
    ...(chat && { chat }),
    ...(embeddings && { embeddings }),
    rerank: rerankAt("/v1/rerank", { fields: { return_documents: false } }),
    images: siliconflowImages,
    videos: siliconflowVideos
  },
  error: (body) => {
    const message = idAt(body, "message")
    if (message === undefined) return undefined
    const [, field] = /\b(\w+): /.exec(message) ?? []
    const isField = jsonAt(body, "code") === 20015
    return vendorError(message, isField ? field : undefined, SILICONFLOW_NAMES)
  }
}
