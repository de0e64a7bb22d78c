/**
 * DashScope, as its public API reference describes it. Its chat and embeddings are OpenAI's. The AI SDK decodes its chat, and
 * the rerank that is in Cohere's form. The other is only described: https://www.alibabacloud.com/help/en/model-studio/text-rerank-api
 */
import { type Received, VENDOR_KEY } from "../VendorServer.ts"
import { openAiResponse } from "./openai.ts"
import { only, ranked, Refusal, routes } from "./Texts.ts"

const results = (documents: unknown, top: unknown) =>
  ranked(documents, top).map(({ index, score }) => ({ index, relevance_score: score }))

export const dashscopeFake = routes(
  {
    "/compatible-mode/v1/chat/completions": (_, received) => openAiResponse(received)[1],
    "/compatible-mode/v1/embeddings": (body, received) => {
      if (body["encoding_format"] !== "float") throw new Refusal(400, "encoding_format must be float")
      return openAiResponse(received)[1]
    },
    "/compatible-api/v1/reranks": (body) => {
      only(body, "model", "query", "documents", "top_n", "instruct")
      return {
        object: "list",
        results: results(body["documents"], body["top_n"]),
        model: body["model"],
        id: "r-3",
        usage: { total_tokens: 9 }
      }
    },
    "/api/v1/services/rerank/text-rerank/text-rerank": (body) => {
      only(body, "model", "input", "parameters")
      const input = body["input"] as Received["body"] | undefined
      const parameters = body["parameters"] as Received["body"] | undefined
      return {
        output: { results: results(input?.["documents"], parameters?.["top_n"]) },
        usage: { total_tokens: 9 },
        request_id: "r-3"
      }
    }
  },
  ({ headers }) => headers.authorization === `Bearer ${VENDOR_KEY}`,
  (message, status) => ({ code: `Status${status}`, message, request_id: "r-3" })
)
