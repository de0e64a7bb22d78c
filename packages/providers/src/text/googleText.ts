/** Gemini's own chat and embeddings. */
import type { Dialect, InterfaceRequest } from "../protocol/Dialect.ts"
import { itemsAt, jsonAt, present, textAt } from "../protocol/JsonValues.ts"
import { embeddingsOf, inputTexts, inputType } from "./Embeddings.ts"
import { contentsRequest } from "./googleRequest.ts"
import { contentsEvents, contentsResponse } from "./googleResponse.ts"

const modelPath = ({ model }: InterfaceRequest) => `/v1/models/${encodeURIComponent(model)}`

const embedding = { operation: "embeddings", batch: 100, tokens: 2048 } as const

export const googleText = {
  hasInputType: true,
  list: {
    path: "/v1/models?pageSize=1000",
    parse: (body) =>
      itemsAt(body, "models").flatMap((model) => {
        const id = textAt(model, "name")?.replace(/^models\//, "")
        // Models of images and of films are known by their names.
        const isEmbedder = itemsAt(model, "supportedGenerationMethods").includes("embedContent")
        return id === undefined ? [] : [{ id, ...(isEmbedder && { operation: "embeddings" }) }]
      })
  },
  models: {
    "gemini-embedding-001": { ...embedding, dimension: 3072 }
  },
  operations: {
    chat: {
      path: (asked) =>
        modelPath(asked) + (asked["stream"] === true ? ":streamGenerateContent?alt=sse" : ":generateContent"),
      request: contentsRequest,
      response: contentsResponse,
      events: contentsEvents
    },
    embeddings: {
      path: (asked) => `${modelPath(asked)}:batchEmbedContents`,
      request: (asked) => ({
        requests: inputTexts(asked).map((text) =>
          present({
            model: `models/${asked.model}`,
            content: { parts: [{ text }] },
            taskType: inputType(asked, { query: "RETRIEVAL_QUERY", document: "RETRIEVAL_DOCUMENT" }),
            outputDimensionality: asked["dimensions"]
          })
        )
      }),
      response: (body, asked) =>
        embeddingsOf(
          asked,
          body,
          itemsAt(body, "embeddings").map((one) => jsonAt(one, "values"))
        )
    }
  }
} satisfies Partial<Dialect>
