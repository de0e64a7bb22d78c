/** Hugging Face's Text Embeddings Inference: a local server of one model. It does not count tokens. */
import type { Dialect } from "../protocol/Dialect.ts"
import { embeddingsOf, inputTexts } from "../text/Embeddings.ts"
import { itemsAt, textAt, jsonAt } from "../protocol/JsonValues.ts"

export const tei = {
  id: "tei",
  name: "Text Embeddings Inference",
  url: "http://127.0.0.1:8080",
  list: {
    path: "/info",
    parse: (body) => {
      const id = textAt(body, "model_id")
      const isReranker = jsonAt(body, "model_type", "reranker") !== undefined
      return id === undefined || isReranker ? [] : [{ id, operation: "embeddings" }]
    }
  },
  operations: {
    embeddings: {
      path: "/embed",
      // Longer texts than the model takes are an error unless they may be cut.
      request: (asked) => ({ inputs: inputTexts(asked), truncate: true }),
      response: (body, asked) => embeddingsOf(asked, body, itemsAt(body))
    }
  }
} as const satisfies Dialect
