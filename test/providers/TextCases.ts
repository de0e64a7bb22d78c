/**
 * Every vendor × operation of text: the fake, the vendor's own SDK where there is one, and the model. The tests run over
 * this list, and the table of capabilities is checked against it.
 */
import Anthropic from "@anthropic-ai/sdk"
import { GoogleGenAI } from "@google/genai"
import { CohereClient, CohereClientV2 } from "cohere-ai"
import OpenAI from "openai"
import { VoyageAIClient } from "voyageai"
import { anthropicFake } from "./fakes/anthropic.ts"
import { cohereFake } from "./fakes/cohere.ts"
import { dashscopeFake } from "./fakes/dashscope.ts"
import { googleFake } from "./fakes/google.ts"
import { jinaFake } from "./fakes/jina.ts"
import { openAiResponse } from "./fakes/openai.ts"
import { siliconflowFake } from "./fakes/siliconflow.ts"
import { teiFake } from "./fakes/tei.ts"
import { voyageFake } from "./fakes/voyage.ts"
import { type Respond, VENDOR_KEY } from "./VendorServer.ts"

export const QUERY = "Where is the water high?"
export const DOCUMENTS = ["a lock", "a weir", "a quay"]
export const TOP = 2
export const TEXTS = ["a lock", "a weir"]

/** What the vendor's SDK reads from the fake: positions and scores, vectors, or a text. */
type Read = (url: string) => Promise<unknown>

export interface TextCase {
  readonly vendor: string
  readonly operation: "rerank" | "embeddings" | "chat"
  readonly model: string
  readonly respond: Respond
  /** Absent where another maker's client reads the fake: `otherClients.test.ts`. */
  readonly sdk?: Read
  /** The tokens that the vendor reports. */
  readonly tokens?: number
}

const cohere = (environment: string) => new CohereClientV2({ environment, token: VENDOR_KEY })
const voyage = (url: string) => new VoyageAIClient({ environment: `${url}/v1`, apiKey: VENDOR_KEY })

export const claude = (baseURL: string) => new Anthropic({ baseURL, apiKey: VENDOR_KEY, maxRetries: 0 })
export const gemini = (baseUrl: string) => new GoogleGenAI({ apiKey: VENDOR_KEY, httpOptions: { baseUrl } })

const openAiChat =
  (model: string, at = "/v1"): Read =>
  async (url) => {
    const client = new OpenAI({ baseURL: url + at, apiKey: VENDOR_KEY })
    const messages = [{ role: "user" as const, content: QUERY }]
    const { choices } = await client.chat.completions.create({ model, messages })
    return choices[0]?.message.content
  }

const openAiEmbeddings =
  (model: string, at = "/v1"): Read =>
  async (url) => {
    const client = new OpenAI({ baseURL: url + at, apiKey: VENDOR_KEY })
    const { data } = await client.embeddings.create({ model, input: TEXTS, encoding_format: "float" })
    return data.map(({ embedding }) => embedding)
  }

/** Rerank in the form of Cohere's first version, which compatible servers have beside OpenAI's endpoints. */
const compatibleRerank =
  (model: string, at = "/v1", send = fetch): Read =>
  async (url) => {
    const environment = url + at.replace(/\/v1$/, "")
    const client = new CohereClient({ environment, token: VENDOR_KEY, fetch: send })
    const { results } = await client.rerank({ model, query: QUERY, documents: DOCUMENTS, topN: TOP })
    return results.map(({ index, relevanceScore: score }) => ({ index, score }))
  }

/** Operations of a vendor whose protocol is OpenAI's, and rerank. */
const compatible = (
  vendor: string,
  respond: Respond,
  models: { readonly [name in TextCase["operation"]]?: string },
  at = "/v1"
): ReadonlyArray<TextCase> => {
  const { chat, embeddings, rerank } = models
  const one = { vendor, respond }
  const cases: Array<TextCase> = []
  if (chat !== undefined) {
    cases.push({ ...one, operation: "chat", model: chat, sdk: openAiChat(chat, at) })
  }
  if (embeddings !== undefined) {
    const sdk = openAiEmbeddings(embeddings, at)
    cases.push({ ...one, operation: "embeddings", model: embeddings, tokens: 4, sdk })
  }
  if (rerank !== undefined) {
    const sdk = compatibleRerank(rerank, at)
    cases.push({ ...one, operation: "rerank", model: rerank, tokens: 9, sdk })
  }
  return cases
}

export const TEXT_CASES: ReadonlyArray<TextCase> = [
  ...compatible("openai", openAiResponse, { chat: "gpt-4o", embeddings: "text-embedding-3-small" }),
  ...compatible("mistral", openAiResponse, { chat: "mistral-small", embeddings: "mistral-embed" }),
  ...compatible("openrouter", openAiResponse, {
    chat: "openai/gpt-4o",
    embeddings: "openai/embed",
    rerank: "cohere/rerank-v3.5"
  }),
  ...compatible("together", openAiResponse, {
    chat: "llama",
    embeddings: "m2-embed",
    rerank: "salesforce/rank"
  }),
  ...compatible("ollama", openAiResponse, { chat: "llama3.3", embeddings: "nomic-embed-text" }),
  ...compatible("llamacpp", openAiResponse, {
    chat: "gemma",
    embeddings: "nomic-embed",
    rerank: "bge-reranker"
  }),
  ...compatible("lmstudio", openAiResponse, { chat: "qwen3", embeddings: "nomic-embed" }),
  ...compatible("vllm", openAiResponse, { chat: "qwen3", embeddings: "bge-m3", rerank: "bge-reranker" }),
  ...compatible("cohere", cohereFake, { chat: "command-a" }, "/compatibility/v1"),
  ...compatible("siliconflow", siliconflowFake, {
    chat: "Qwen/Qwen3-8B",
    embeddings: "BAAI/bge-m3",
    rerank: "BAAI/bge-reranker-v2-m3"
  }),
  ...compatible(
    "dashscope",
    dashscopeFake,
    { chat: "qwen-plus", embeddings: "text-embedding-v4" },
    "/compatible-mode/v1"
  ),
  {
    vendor: "cohere",
    operation: "rerank",
    model: "rerank-v3.5",
    respond: cohereFake,
    sdk: async (url) => {
      const asked = { model: "rerank-v3.5", query: QUERY, documents: DOCUMENTS, topN: TOP }
      const { results } = await cohere(url).rerank(asked)
      return results.map(({ index, relevanceScore: score }) => ({ index, score }))
    }
  },
  {
    vendor: "cohere",
    operation: "embeddings",
    model: "embed-v4.0",
    respond: cohereFake,
    tokens: 4,
    sdk: async (url) => {
      const asked = { model: "embed-v4.0", texts: TEXTS, inputType: "search_document" as const }
      const { embeddings } = await cohere(url).embed({ ...asked, embeddingTypes: ["float"] })
      return embeddings.float
    }
  },
  {
    vendor: "voyage",
    operation: "rerank",
    model: "rerank-2.5",
    respond: voyageFake,
    tokens: 9,
    sdk: async (url) => {
      const asked = { model: "rerank-2.5", query: QUERY, documents: DOCUMENTS, topK: TOP }
      const { data = [] } = await voyage(url).rerank(asked)
      return data.map(({ index, relevanceScore: score }) => ({ index, score }))
    }
  },
  {
    vendor: "voyage",
    operation: "embeddings",
    model: "voyage-3.5",
    respond: voyageFake,
    tokens: 4,
    sdk: async (url) => {
      const { data = [] } = await voyage(url).embed({ model: "voyage-3.5", input: TEXTS })
      return data.map(({ embedding }) => embedding)
    }
  },
  {
    vendor: "anthropic",
    operation: "chat",
    model: "claude-opus-4-5",
    respond: anthropicFake,
    sdk: async (url) => {
      const messages = [{ role: "user" as const, content: QUERY }]
      const { content } = await claude(url).messages.create({
        model: "claude-opus-4-5",
        max_tokens: 9,
        messages
      })
      return content.map((block) => (block.type === "text" ? block.text : "")).join("")
    }
  },
  {
    vendor: "google",
    operation: "chat",
    model: "gemini-2.5-flash",
    respond: googleFake,
    sdk: async (url) =>
      (await gemini(url).models.generateContent({ model: "gemini-2.5-flash", contents: QUERY })).text
  },
  {
    vendor: "google",
    operation: "embeddings",
    model: "gemini-embedding-001",
    respond: googleFake,
    tokens: 4,
    sdk: async (url) => {
      const asked = { model: "gemini-embedding-001", contents: TEXTS }
      return (await gemini(url).models.embedContent(asked)).embeddings?.map(({ values }) => values)
    }
  },
  { vendor: "jina", operation: "embeddings", model: "jina-embeddings-v3", respond: jinaFake, tokens: 4 },
  ...compatible("jina", jinaFake, { rerank: "jina-reranker-v3" }),
  { vendor: "tei", operation: "embeddings", model: "BAAI/bge-m3", respond: teiFake },
  { vendor: "tei", operation: "rerank", model: "BAAI/bge-reranker-v2-m3", respond: teiFake },
  {
    vendor: "dashscope",
    operation: "rerank",
    model: "qwen3-rerank",
    respond: dashscopeFake,
    tokens: 9,
    // The client knows the path of its own vendor only.
    sdk: compatibleRerank("qwen3-rerank", "/compatible-api/v1", (path, init) =>
      fetch(`${String(path)}s`, init)
    )
  },
  { vendor: "dashscope", operation: "rerank", model: "gte-rerank-v2", respond: dashscopeFake, tokens: 9 }
]
