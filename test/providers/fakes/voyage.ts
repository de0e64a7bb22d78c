/** Voyage AI. `voyageai` decodes its responses in the tests. */
import { VENDOR_KEY } from "../VendorServer.ts"
import { base64, only, ranked, Refusal, routes, vectorAt } from "./Texts.ts"

export const voyageFake = routes(
  {
    "/v1/rerank": (body) => {
      only(body, "model", "query", "documents", "top_k", "return_documents", "truncation")
      const results = ranked(body["documents"], body["top_k"])
      return {
        object: "list",
        data: results.map(({ index, score }) => ({ index, relevance_score: score })),
        model: body["model"],
        usage: { total_tokens: 9 }
      }
    },
    "/v1/embeddings": (body) => {
      only(
        body,
        "model",
        "input",
        "input_type",
        "truncation",
        "encoding_format",
        "output_dimension",
        "output_dtype"
      )
      const { encoding_format: format } = body
      if (format !== undefined && format !== "base64")
        throw new Refusal(400, "encoding_format must be base64")
      if (!["query", "document", undefined].includes(body["input_type"] as string)) {
        throw new Refusal(400, "input_type must be query or document")
      }
      const data = [body["input"]].flat().map((_, index) => {
        const vector = vectorAt(index)
        return { object: "embedding", index, embedding: format === "base64" ? base64(vector) : vector }
      })
      return { object: "list", data, model: body["model"], usage: { total_tokens: 4 } }
    }
  },
  ({ headers }) => headers.authorization === `Bearer ${VENDOR_KEY}`,
  (detail) => ({ detail })
)
