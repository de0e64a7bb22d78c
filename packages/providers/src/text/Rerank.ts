/** Rerank requests and responses of the interface, for dialects. */
import { Struct } from "effect"
import type { Fields, InterfaceRequest, OperationDialect } from "../protocol/Dialect.ts"
import { itemsAt, jsonAt, numberAt, present, textAt, usageIn } from "../protocol/JsonValues.ts"

/** The texts of the documents, which may be objects with one. */
export const documentTexts = ({ documents }: InterfaceRequest): ReadonlyArray<string> =>
  itemsAt(documents).map((document) => textAt(document, "text") ?? String(document))

/** The ranking in the order of the vendor, which is best first, at most `top_n`. */
export const rankingOf = (
  asked: InterfaceRequest,
  body: unknown,
  results: ReadonlyArray<unknown>
): Fields => {
  const texts = asked["return_documents"] === true ? documentTexts(asked) : undefined
  return present({
    id: jsonAt(body, "id"),
    model: asked.model,
    results: results.slice(0, numberAt(asked, "top_n")).map((result) => {
      const index = Number(jsonAt(result, "index"))
      return {
        index,
        relevance_score: numberAt(result, "relevance_score") ?? numberAt(result, "score") ?? 0,
        ...(texts?.[index] !== undefined && { document: { text: texts[index] } })
      }
    }),
    meta: jsonAt(body, "meta"),
    usage: usageIn(body)
  })
}

/** Rerank with options in the request itself. `results`, `topN`: the vendor's names. `fields`: sent with every request. */
export const rerankAt = (
  path: string,
  { fields, results = "results", topN = "top_n" }: { fields?: Fields; results?: string; topN?: string } = {}
) =>
  ({
    path,
    request: (asked) =>
      present({
        ...Struct.omit(asked as Fields, ["return_documents", "top_n"]),
        documents: documentTexts(asked),
        [topN]: asked["top_n"],
        ...fields
      }),
    response: (body, asked) => rankingOf(asked, body, itemsAt(body, results))
  }) satisfies OperationDialect
