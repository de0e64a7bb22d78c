/** The gateway interface itself. Requests and responses pass as bytes. */
import type { Dialect } from "./Dialect.ts"

export const gateway = {
  id: "gateway",
  name: "Gateway",
  list: { path: "/v1/models" },
  operations: {
    rerank: { path: "/v1/rerank" },
    embeddings: { path: "/v1/embeddings" },
    chat: { path: "/v1/chat/completions" },
    images: { path: "/v1/images/generations" },
    videos: { path: "/v1/videos" }
  }
} as const satisfies Dialect
