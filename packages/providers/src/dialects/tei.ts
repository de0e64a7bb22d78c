/** Hugging Face's Text Embeddings Inference: a local server of one model. It does not count tokens. */
import type { Dialect } from "../protocol/Dialect.ts"
import { embeddingsOf, inputTexts } from "../text/Embeddings.ts"
import { itemsAt, present, textAt, jsonAt } from "../protocol/JsonValues.ts"
import { documentTexts, rankingOf } from "../text/Rerank.ts"

export const tei = {
  id: "tei",
  name: "Text Embeddings Inference",
  url: "http://127.0.0.1:8080",
  list: {
    path: "/info",
    parse: (body) => {
      const id = textAt(body, "model_id")
      const isReranker = jsonAt(body, "model_type", "reranker") !== undefined
      return id === undefined ? [] : [{ id, operation: isReranker ? "rerank" : "embeddings" }]
    }
  },
  // Longer texts than the model takes are an error unless they may be cut.
  operations: {
    rerank: {
      path: "/rerank",
      request: (asked) =>
        present({
          query: asked["query"],
          texts: documentTexts(asked),
          truncate: true,
          raw_scores: asked["raw_scores"]
        }),
      response: (body, asked) => rankingOf(asked, body, itemsAt(body))
    },
    embeddings: {
      path: "/embed",
      request: (asked) => ({ inputs: inputTexts(asked), truncate: true }),
      response: (body, asked) => embeddingsOf(asked, body, itemsAt(body))
    }
  }
} as const satisfies Dialect
