/** SiliconFlow's texts. Chat and embeddings are OpenAI's; Cohere's client decodes the rerank. https://docs.siliconflow.com/en/api-reference */
import { VENDOR_KEY } from "../VendorServer.ts"
import { openAiResponse } from "./openai.ts"
import { only, ranked, routes } from "./Texts.ts"

export const siliconflowFake = routes(
  {
    "/v1/chat/completions": (_, received) => openAiResponse(received)[1],
    "/v1/embeddings": (_, received) => openAiResponse(received)[1],
    "/v1/rerank": (body) => {
      only(
        body,
        "model",
        "query",
        "documents",
        "instruction",
        "top_n",
        "return_documents",
        "max_chunks_per_doc",
        "overlap_tokens"
      )
      const results = ranked(body["documents"], body["top_n"])
      return {
        id: "r-4",
        results: results.map(({ index, score }) => ({ index, relevance_score: score })),
        tokens: { input_tokens: 9, output_tokens: 0 }
      }
    }
  },
  ({ headers }) => headers.authorization === `Bearer ${VENDOR_KEY}`,
  (message) => ({ code: 20012, message, data: null })
)
