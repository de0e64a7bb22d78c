/** Rerank requests and responses of the interface, for dialects. */
import type { Fields, InterfaceRequest } from "../protocol/Dialect.ts"
import { itemsAt, numberAt, present, textAt, jsonAt } from "./Values.ts"

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
  results: ReadonlyArray<unknown>,
  {
    id,
    meta,
    score = "relevance_score",
    tokens
  }: {
    readonly id?: unknown
    readonly meta?: unknown
    readonly score?: string
    readonly tokens: number | undefined
  }
): Fields => {
  const texts = asked["return_documents"] === true ? documentTexts(asked) : undefined
  const ranked = results
    .map((result) => ({ index: Number(jsonAt(result, "index")), score: numberAt(result, score) ?? 0 }))
    .slice(0, numberAt(asked, "top_n"))
  return present({
    id,
    model: asked.model,
    results: ranked.map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(texts?.[index] !== undefined && { document: { text: texts[index] } })
    })),
    meta,
    usage: tokens === undefined ? undefined : { prompt_tokens: tokens, total_tokens: tokens }
  })
}
