/** SiliconFlow, as its public API reference describes it: there is no SDK. Its chat and embeddings are OpenAI's. */
import { VENDOR_KEY } from "../VendorServer.ts"
import { openAiResponse } from "./openai.ts"
import { only, ranked, Refusal, routes } from "./Texts.ts"

export const siliconflowFake = routes(
  {
    "/v1/rerank": (body) => {
      only(
        body,
        "model",
        "query",
        "documents",
        "instruction",
        "top_n",
        "return_documents",
        "max_chunks_per_doc"
      )
      if (body["top_n"] !== undefined && Number(body["top_n"]) < 1)
        throw new Refusal(400, "top_n must be >= 1")
      const results = ranked(body["documents"], body["top_n"])
      const tokens = { input_tokens: 9, output_tokens: 0, image_tokens: 0 }
      return {
        id: "rerank-1",
        results: results.map(({ index, score }) => ({ index, relevance_score: score })),
        meta: { tokens, billed_units: { ...tokens, search_units: 0, classifications: 0 } }
      }
    },
    "/v1/chat/completions": (_, received) => openAiResponse(received)[1],
    "/v1/embeddings": (_, received) => openAiResponse(received)[1]
  },
  ({ headers }) => headers.authorization === `Bearer ${VENDOR_KEY}`,
  (message, code) => ({ code, message, data: null })
)
