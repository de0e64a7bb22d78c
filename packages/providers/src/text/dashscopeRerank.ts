/** DashScope's rerank: one model in Cohere's form, the others in the vendor's own. */
import { Struct } from "effect"
import type { Fields, OperationDialect } from "../protocol/Dialect.ts"
import { itemsAt, present } from "../protocol/JsonValues.ts"
import { documentTexts, rankingOf, rerankAt } from "./Rerank.ts"

const compatible = rerankAt("/compatible-api/v1/reranks")

const isCompatible = (model: string): boolean => model.startsWith("qwen3-rerank")

export const dashscopeRerank: OperationDialect = {
  path: ({ model }) =>
    isCompatible(model) ? compatible.path : "/api/v1/services/rerank/text-rerank/text-rerank",
  request: (asked) => {
    if (isCompatible(asked.model)) return compatible.request(asked)
    const { model, query } = asked
    const parameters = present(
      Struct.omit(asked as Fields, ["model", "query", "documents", "return_documents"])
    )
    return { model, input: { query, documents: documentTexts(asked) }, parameters }
  },
  response: (body, asked) =>
    isCompatible(asked.model)
      ? compatible.response(body, asked)
      : rankingOf(asked, body, itemsAt(body, "output", "results"))
}
