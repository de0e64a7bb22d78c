/** Cohere: its version 2 of rerank and embeddings, and its compatible endpoint of chat. */
import type { Dialect, OperationName } from "../protocol/Dialect.ts"
import { embeddingsAt, inputTexts, inputType } from "../text/Embeddings.ts"
import { rerankAt } from "../text/Rerank.ts"
import { itemsAt, textAt } from "../protocol/JsonValues.ts"

/** The vendor's names of operations. */
const ENDPOINTS: Readonly<Record<string, OperationName>> = {
  chat: "chat",
  embed: "embeddings",
  rerank: "rerank"
}

const embedding = { operation: "embeddings", batch: 96 } as const
const rerank = { operation: "rerank", batch: 1000 } as const

export const cohere = {
  id: "cohere",
  name: "Cohere",
  url: "https://api.cohere.com",
  keyVariable: "CO_API_KEY",
  list: {
    path: "/v1/models?page_size=1000",
    parse: (body) =>
      itemsAt(body, "models").flatMap((model) => {
        const operation = itemsAt(model, "endpoints")
          .map((name) => ENDPOINTS[String(name)])
          .find((name) => name !== undefined)
        const id = textAt(model, "name")
        return id === undefined || operation === undefined ? [] : [{ id, operation }]
      })
  },
  hasInputType: true,
  models: {
    "embed-v4.0": { ...embedding, tokens: 128_000, dimension: 1536 },
    "embed-multilingual-v3.0": { ...embedding, tokens: 512, dimension: 1024 },
    "embed-english-v3.0": { ...embedding, tokens: 512, dimension: 1024 },
    "rerank-v3.5": { ...rerank, tokens: 4096 },
    "rerank-multilingual-v3.0": { ...rerank, tokens: 4096 }
  },
  operations: {
    rerank: rerankAt("/v2/rerank"),
    embeddings: embeddingsAt(
      "/v2/embed",
      (asked) => ({
        texts: inputTexts(asked),
        // The vendor requires it. Texts without a purpose are usually stored.
        input_type:
          inputType(asked, { query: "search_query", document: "search_document" }) ?? "search_document",
        embedding_types: ["float"],
        output_dimension: asked["dimensions"]
      }),
      (body) => itemsAt(body, "embeddings", "float")
    ),
    chat: { path: "/compatibility/v1/chat/completions" }
  }
} as const satisfies Dialect
