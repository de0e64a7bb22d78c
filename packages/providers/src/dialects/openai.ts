/** OpenAI, and every server that is compatible with it. Requests and responses pass unchanged, except edits of images. */
import { Struct } from "effect"
import { openaiImages } from "../media/openaiImages.ts"
import type { Dialect, OperationName } from "../protocol/Dialect.ts"
import { gateway } from "../protocol/GatewayDialect.ts"

const list = { path: "/v1/models" }
const { rerank: _, videos: __, ...operations } = gateway.operations

export const openai = {
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
} as const satisfies Dialect

/** A vendor or a local server that needs no more than an address. */
const compatible = <const Id extends string, Name extends OperationName>(
  id: Id,
  name: string,
  operations: ReadonlyArray<Name>,
  url: string,
  more: Pick<Dialect, "keyVariable"> = {}
) => ({ id, name, url, list, operations: Struct.pick(gateway.operations, operations), ...more })

const TEXT = ["chat", "embeddings"] as const
const ALL = [...TEXT, "rerank"] as const

export const COMPATIBLE = [
  compatible("mistral", "Mistral", TEXT, "https://api.mistral.ai/v1", { keyVariable: "MISTRAL_API_KEY" }),
  compatible("openrouter", "OpenRouter", ALL, "https://openrouter.ai/api/v1", {
    keyVariable: "OPENROUTER_API_KEY"
  }),
  compatible("together", "Together", ALL, "https://api.together.xyz/v1", { keyVariable: "TOGETHER_API_KEY" }),
  compatible("ollama", "Ollama", TEXT, "http://127.0.0.1:11434/v1"),
  compatible("llamacpp", "llama.cpp", ALL, "http://127.0.0.1:8080/v1"),
  compatible("lmstudio", "LM Studio", TEXT, "http://127.0.0.1:1234/v1"),
  compatible("vllm", "vLLM", ALL, "http://127.0.0.1:8000/v1")
] as const
