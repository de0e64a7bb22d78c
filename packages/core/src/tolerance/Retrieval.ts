/** Embeddings without positions, and documents of rankings in any form. */
import { Predicate } from "effect"
import { tolerateItems } from "./Items.ts"
import { numberOf } from "./Numbers.ts"

const indexIn = (entry: unknown): unknown => (Predicate.isObject(entry) ? entry["index"] : undefined)

/**
 * Entries with the positions of their texts.
 *
 * **Details.** Some servers omit the index 0, or all indexes, or send 0 for each: the order decides. An index may be text.
 * Other repeated indexes are left, and refused later.
 */
const withIndexes = (data: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  const isUsual = data.every((entry) => typeof indexIn(entry) === "number") && indexIn(data[1]) !== 0
  if (isUsual) return data
  const given = data.map((entry) => numberOf(indexIn(entry)) ?? 0)
  const isUnindexed = given.every((index) => index === 0)
  if (!isUnindexed && new Set(given).size < data.length) return data
  return data.map((entry, at) =>
    Predicate.isObject(entry) ? { ...entry, index: isUnindexed ? at : given[at] } : entry
  )
}

/** Embeddings in the contract's form. */
export const tolerateEmbeddings = tolerateItems("data", withIndexes)

/** A result whose document is an object with its text, or absent. Some gateways send the text, an empty object, or null. */
const withDocument = (result: unknown): unknown => {
  if (!Predicate.isObject(result) || result["document"] === undefined) return result
  const { document, ...rest } = result
  if (typeof document === "string") return { ...rest, document: { text: document } }
  return Predicate.isObject(document) && typeof document["text"] === "string" ? result : rest
}

/** A ranking in the contract's form. */
export const tolerateRanking = tolerateItems("results", (results) => results.map(withDocument))
