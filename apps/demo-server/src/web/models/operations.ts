/** The operations of models, as headings and as places to try them. */
import type { Capability } from "../page/route.ts"

export const OPERATION_NAMES: Readonly<Record<string, string>> = {
  embeddings: "Embeddings",
  rerank: "Rerank",
  chat: "Chat",
  images: "Images",
  videos: "Videos"
}

export const CAPABILITY_OF: Readonly<Record<string, Capability>> = {
  embeddings: "embed",
  rerank: "rerank",
  chat: "chat",
  images: "image",
  videos: "video"
}
