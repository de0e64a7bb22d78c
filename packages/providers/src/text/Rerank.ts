/** Rerank requests and responses of the interface, for dialects. */
import type { Fields, InterfaceRequest, OperationDialect } from "../protocol/Dialect.ts"
import { itemsAt, jsonAt, numberAt, present, textAt, tokensIn } from "./Values.ts"

/** The texts of the documents, which may be objects with one. */
export const documentTexts = ({ documents }: InterfaceRequest): ReadonlyArray<string> =>
  itemsAt(documents).map((document) => textAt(document, "text") ?? String(document))

/** The request without the fields that every vendor has: options, under the interface's names. */
export const rerankOptions = (asked: InterfaceRequest): Fields => {
  const { documents: _, model: __, query: ___, return_documents: ____, top_n: _____, ...options } = asked
  return options
}

/** The ranking in the order of the vendor, which is best first, at most `top_n`. `score` is the vendor's name of a score. */
export const rankingOf = (
  asked: InterfaceRequest,
  body: unknown,
  results: ReadonlyArray<unknown>,
  score = "relevance_score"
): Fields => {
  const texts = asked["return_documents"] === true ? documentTexts(asked) : undefined
  const tokens = tokensIn(body)
  return present({
    id: jsonAt(body, "id") ?? jsonAt(body, "request_id"),
    model: asked.model,
    results: results.slice(0, numberAt(asked, "top_n")).map((result) => {
      const index = Number(jsonAt(result, "index"))
      return {
        index,
        relevance_score: numberAt(result, score) ?? 0,
        ...(texts?.[index] !== undefined && { document: { text: texts[index] } })
      }
    }),
    meta: jsonAt(body, "meta"),
    usage: tokens === undefined ? undefined : { prompt_tokens: tokens, total_tokens: tokens }
  })
}

/** Rerank of most vendors: options in the request itself. `results`, `topN`: the vendor's names; `fields`: always sent. */
export const rerankAt = (
  path: string,
  { fields, results = "results", topN = "top_n" }: { fields?: Fields; results?: string; topN?: string } = {}
) =>
  ({
    path,
    request: (asked) =>
      present({
        ...rerankOptions(asked),
        model: asked.model,
        query: asked["query"],
        documents: documentTexts(asked),
        [topN]: asked["top_n"],
        ...fields
      }),
    response: (body, asked) => rankingOf(asked, body, itemsAt(body, results))
  }) satisfies OperationDialect
