/** OpenAI, and every server that is compatible with it. Requests and responses pass unchanged, except edits of images. */
import { openaiImages } from "../media/openaiImages.ts"
import type { Dialect, OperationName } from "../protocol/Dialect.ts"
import { gateway } from "../protocol/GatewayDialect.ts"

const list = { path: "/v1/models" }
const { rerank: _, videos: __, ...operations } = gateway.operations

export const openai: Dialect = {
  id: "openai",
  name: "OpenAI and compatible",
  url: "https://api.openai.com/v1",
  keyVariable: "OPENAI_API_KEY",
  list,
  operations: { ...operations, images: openaiImages },
  models: {
    "text-embedding-3-small": { operation: "embeddings", batch: 2048, tokens: 8191, dimension: 1536 },
    "text-embedding-3-large": { operation: "embeddings", batch: 2048, tokens: 8191, dimension: 3072 },
    "text-embedding-ada-002": { operation: "embeddings", batch: 2048, tokens: 8191, dimension: 1536 }
  }
}

/** A vendor whose protocol is OpenAI's, for the operations that it has. */
const compatible = (
  id: string,
  name: string,
  url: string,
  keyVariable: string | undefined,
  ...names: ReadonlyArray<OperationName>
): Dialect => ({
  id,
  name,
  url,
  ...(keyVariable !== undefined && { keyVariable }),
  list,
  operations: Object.fromEntries(names.map((name) => [name, gateway.operations[name]]))
})

/** Vendors and local servers that need no more than an address. */
export const COMPATIBLE: ReadonlyArray<Dialect> = [
  compatible("mistral", "Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "chat", "embeddings"),
  compatible(
    "openrouter",
    "OpenRouter",
    "https://openrouter.ai/api/v1",
    "OPENROUTER_API_KEY",
    "chat",
    "embeddings",
    "rerank"
  ),
  compatible(
    "together",
    "Together",
    "https://api.together.xyz/v1",
    "TOGETHER_API_KEY",
    "chat",
    "embeddings",
    "rerank"
  ),
  compatible("ollama", "Ollama", "http://127.0.0.1:11434/v1", undefined, "chat", "embeddings"),
  compatible("llamacpp", "llama.cpp", "http://127.0.0.1:8080/v1", undefined, "chat", "embeddings", "rerank"),
  compatible("lmstudio", "LM Studio", "http://127.0.0.1:1234/v1", undefined, "chat", "embeddings"),
  compatible("vllm", "vLLM", "http://127.0.0.1:8000/v1", undefined, "chat", "embeddings", "rerank")
]
