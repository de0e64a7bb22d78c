/** DashScope, as its public API reference describes it. Its chat and embeddings are OpenAI's. The AI SDK decodes its chat. */
import { VENDOR_KEY } from "../VendorServer.ts"
import { openAiResponse } from "./openai.ts"
import { Refusal, routes } from "./Texts.ts"

export const dashscopeFake = routes(
  {
    "/compatible-mode/v1/chat/completions": (_, received) => openAiResponse(received)[1],
    "/compatible-mode/v1/embeddings": (body, received) => {
      if (body["encoding_format"] !== "float") throw new Refusal(400, "encoding_format must be float")
      return openAiResponse(received)[1]
    }
  },
  ({ headers }) => headers.authorization === `Bearer ${VENDOR_KEY}`,
  (message, status) => ({ code: `Status${status}`, message, request_id: "r-3" })
)
