/** SiliconFlow: OpenAI's protocol for chat and embeddings, rerank in Cohere's form, and its own of images and videos. */
import { vendorError } from "../media/MediaResponse.ts"
import { siliconflowImages, siliconflowVideos } from "../media/siliconflowMedia.ts"
import type { Dialect } from "../protocol/Dialect.ts"
import { gateway } from "../protocol/GatewayDialect.ts"
import { textAt } from "../protocol/JsonValues.ts"
import { rerankAt } from "../text/Rerank.ts"

const { chat, embeddings } = gateway.operations

export const siliconflow = {
  id: "siliconflow",
  name: "SiliconFlow",
  url: "https://api.siliconflow.com/v1",
  keyVariable: "SILICONFLOW_API_KEY",
  list: { path: "/v1/models" },
  models: {
    "BAAI/bge-m3": { operation: "embeddings", batch: 32, tokens: 8192, dimension: 1024 },
    "Qwen/Qwen3-Embedding-8B": { operation: "embeddings", batch: 32, tokens: 32_768, dimension: 4096 }
  },
  operations: {
    chat,
    embeddings,
    rerank: rerankAt("/v1/rerank"),
    images: siliconflowImages,
    videos: siliconflowVideos
  },
  // An empty balance is a 403.
  error: (body) => vendorError(textAt(body, "message")),
  fieldNames: { image_size: "size", batch_size: "n" }
} as const satisfies Dialect
