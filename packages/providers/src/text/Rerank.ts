/** Rerank requests and responses of the interface, for dialects. */
import { Struct } from "effect"
import type { Fields, InterfaceRequest, OperationDialect } from "../protocol/Dialect.ts"
import { itemsAt, jsonAt, numberAt, present, textAt, usageIn } from "../protocol/JsonValues.ts"

/** The texts of the documents, which may be objects with one. */
const documentTexts = ({ documents }: InterfaceRequest): ReadonlyArray<string> =>
  itemsAt(documents).map((document) => textAt(document, "text") ?? String(document))

/** The ranking in the order of the vendor, which is best first, at most `top_n`. */
const rankingOf = (asked: InterfaceRequest, body: unknown, results: ReadonlyArray<unknown>): Fields => {
  const texts = asked["return_documents"] === true ? documentTexts(asked) : undefined
  return present({
    id: jsonAt(body, "id"),
    model: asked.model,
    results: results.slice(0, numberAt(asked, "top_n")).map((result) => {
      const index = Number(jsonAt(result, "index"))
      return {
        index,
        relevance_score: numberAt(result, "relevance_score") ?? 0,
        ...(texts?.[index] !== undefined && { document: { text: texts[index] } })
      }
    }),
    meta: jsonAt(body, "meta"),
    usage: usageIn(body)
  })
}

/** Rerank with options in the request itself. `results`, `topN`: the vendor's names. */
export const rerankAt = (
  path: string,
  { results = "results", topN = "top_n" }: { results?: string; topN?: string } = {}
): OperationDialect => ({
  path,
  request: (asked) =>
    present({
      ...Struct.omit(asked as Fields, ["return_documents", "top_n"]),
      documents: documentTexts(asked),
      [topN]: asked["top_n"]
    }),
  response: (body, asked) => rankingOf(asked, body, itemsAt(body, results))
})
