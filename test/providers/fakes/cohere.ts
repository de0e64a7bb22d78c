/** Cohere's version 2. `cohere-ai` decodes its responses in the tests. */
import { VENDOR_KEY } from "../VendorServer.ts"
import { openAiResponse } from "./openai.ts"
import { only, ranked, Refusal, routes, vectorAt } from "./Texts.ts"

const meta = (units: object) => ({ api_version: { version: "2" }, billed_units: units })

export const cohereFake = routes(
  {
    "/v2/rerank": (body) => {
      only(body, "model", "query", "documents", "top_n", "max_tokens_per_doc", "priority")
      const results = ranked(body["documents"], body["top_n"])
      return {
        id: "r-1",
        results: results.map(({ index, score }) => ({ index, relevance_score: score })),
        meta: meta({ search_units: 1 })
      }
    },
    "/v2/embed": (body) => {
      only(
        body,
        "model",
        "texts",
        "input_type",
        "embedding_types",
        "output_dimension",
        "truncate",
        "priority"
      )
      const { embedding_types: types, input_type: type, texts } = body
      if (!Array.isArray(texts)) throw new Refusal(400, "texts is required")
      if (!["search_query", "search_document"].includes(String(type))) {
        throw new Refusal(400, "input_type is required")
      }
      const float = texts.map((_, index) => vectorAt(index))
      return {
        id: "e-1",
        texts,
        embeddings: Array.isArray(types) && types.includes("float") ? { float } : {},
        meta: meta({ input_tokens: 4 }),
        response_type: "embeddings_by_type"
      }
    },
    "/compatibility/v1/chat/completions": (_, received) => openAiResponse(received)[1],
    "/v1/models": () => ({
      models: [
        { name: "command-a", endpoints: ["generate", "chat"] },
        { name: "embed-v4.0", endpoints: ["embed", "classify"] },
        { name: "rerank-v3.5", endpoints: ["rerank"] },
        { name: "command-light", endpoints: ["summarize"] }
      ]
    })
  },
  ({ headers }) => headers.authorization === `Bearer ${VENDOR_KEY}`,
  (message) => ({ id: "err-1", message })
)
