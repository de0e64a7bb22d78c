/** DashScope, Alibaba Cloud's Model Studio: OpenAI's protocol for chat and embeddings, and its own for the rest. */
import { dashscopeImages, dashscopeVideos } from "../media/dashscopeMedia.ts"
import { vendorError, idAt } from "../media/MediaResponse.ts"
import type { Dialect } from "../protocol/Dialect.ts"
import { jsonAt } from "../protocol/JsonValues.ts"
import { dashscopeRerank } from "../text/dashscopeRerank.ts"
import { embeddingsAt } from "../text/Embeddings.ts"

const embedding = { operation: "embeddings", batch: 10, tokens: 8192, dimension: 1024 } as const
const rerank = { operation: "rerank", batch: 500, tokens: 4000 } as const

export const dashscope = {
  id: "dashscope",
  name: "DashScope",
  url: "https://dashscope-intl.aliyuncs.com",
  keyVariable: "DASHSCOPE_API_KEY",
  list: { path: "/compatible-mode/v1/models" },
  models: {
    "text-embedding-v4": embedding,
    "text-embedding-v3": embedding,
    "qwen3-rerank": rerank,
    "gte-rerank-v2": rerank
  },
  operations: {
    rerank: dashscopeRerank,
    chat: { path: "/compatible-mode/v1/chat/completions" },
    // Other encodings are refused.
    embeddings: embeddingsAt("/compatible-mode/v1/embeddings", ({ dimensions, input }) => ({
      input,
      dimensions,
      encoding_format: "float"
    })),
    images: dashscopeImages,
    videos: dashscopeVideos
  },
  error: (body) => {
    // Chat and embeddings have errors in OpenAI's form.
    const error = jsonAt(body, "error") ?? body
    const message = idAt(error, "message")
    const [field] = /\b(?:parameters|input)\.\w+/.exec(message ?? "") ?? []
    return vendorError(message, field, idAt(error, "code"))
  },
  fieldNames: {
    "parameters.size": "size",
    "parameters.resolution": "size",
    "parameters.n": "n",
    "parameters.duration": "seconds",
    "input.prompt": "prompt",
    "input.img_url": "input_reference"
  }
} as const satisfies Dialect
