/** DashScope, as its public API reference describes it. Its chat and embeddings are OpenAI's. The AI SDK decodes its chat. */
import { VENDOR_KEY } from "../VendorServer.ts"
import { openAiResponse } from "./openai.ts"
import { only, ranked, Refusal, routes } from "./Texts.ts"

export const dashscopeFake = routes(
  {
    "/compatible-api/v1/reranks": (body) => {
      only(body, "model", "query", "documents", "top_n", "instruct")
      const results = ranked(body["documents"], body["top_n"])
      return {
        object: "list",
        results: results.map(({ index, score }) => ({ index, relevance_score: score })),
        model: body["model"],
        id: "r-1",
        usage: { total_tokens: 9 }
      }
    },
    "/api/v1/services/rerank/text-rerank/text-rerank": (body) => {
      only(body, "model", "input", "parameters")
      const { input, parameters } = body as Record<string, Record<string, unknown> | undefined>
      const results = ranked(input?.["documents"], parameters?.["top_n"])
      return {
        output: { results: results.map(({ index, score }) => ({ index, relevance_score: score })) },
        usage: { total_tokens: 9 },
        request_id: "r-2"
      }
    },
    "/compatible-mode/v1/chat/completions": (_, received) => openAiResponse(received)[1],
    "/compatible-mode/v1/embeddings": (body, received) => {
      if (body["encoding_format"] !== "float") throw new Refusal(400, "encoding_format must be float")
      return openAiResponse(received)[1]
    }
  },
  ({ headers }) => headers.authorization === `Bearer ${VENDOR_KEY}`,
  (message, status) => ({ code: `Status${status}`, message, request_id: "r-3" })
)
