/** Finds cited sentences in an object of a model's response, whatever the names of its fields. */
import type { LenientValue } from "./LenientJson.ts"
import { objectSentence } from "./ProseSentences.ts"
import type { WrittenCitation, WrittenSentence } from "./WrittenSentence.ts"

export type { WrittenCitation, WrittenSentence } from "./WrittenSentence.ts"

const TEXT_NAMES = ["text", "sentence", "answer", "claim", "statement", "content", "response", "fact"]
/** Names of the list of citations. */
export const CITATION_NAMES = "citations citation sources source references evidence quotes passages".split(
  " "
)
const PASSAGE_NAMES = "passage passage_id passageId passage_number id index number source n".split(" ")
const QUOTE_NAMES = ["quote", "cited_text", "excerpt", "snippet", "text", "evidence", "content"]

type Fields = { readonly [name: string]: LenientValue }

export const isFields = (value: LenientValue | undefined): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const fieldOf = (fields: Fields, names: ReadonlyArray<string>): LenientValue | undefined =>
  fields[names.find((name) => fields[name] !== undefined) ?? ""]

/** `1`, `"1"`, `"[1]"` and `"Passage 1"`. */
const passageNumber = (value: LenientValue | undefined): number | undefined => {
  if (typeof value === "number") return value
  const digits = typeof value === "string" ? /^\D{0,12}(\d+)\D{0,3}$/.exec(value)?.[1] : undefined
  return digits === undefined ? undefined : Number(digits)
}

const citationOf = (value: LenientValue): WrittenCitation => {
  if (!isFields(value)) {
    const passage = passageNumber(value)
    return passage === undefined && typeof value === "string"
      ? { quote: value }
      : { ...(passage !== undefined && { passage }) }
  }
  const passage = passageNumber(fieldOf(value, PASSAGE_NAMES))
  const quote = fieldOf(value, QUOTE_NAMES)
  return {
    ...(passage !== undefined && { passage }),
    ...(typeof quote === "string" && quote.trim() !== "" && { quote })
  }
}

/** A list, one citation, or quotes by the number of their passage. */
const citationList = (cited: LenientValue): ReadonlyArray<LenientValue> => {
  if (Array.isArray(cited)) return cited
  const isCitation = !isFields(cited) || fieldOf(cited, [...PASSAGE_NAMES, ...QUOTE_NAMES]) !== undefined
  return isCitation ? [cited] : Object.entries(cited).map(([passage, quote]) => ({ passage, quote }))
}

const isSentence = (value: LenientValue): boolean =>
  isFields(value) &&
  typeof fieldOf(value, TEXT_NAMES) === "string" &&
  Array.isArray(fieldOf(value, CITATION_NAMES))

/** The sentences among the citations of another one, whose brackets are missing. */
const swallowed = (value: LenientValue): ReadonlyArray<LenientValue> =>
  isSentence(value)
    ? [value]
    : typeof value === "object" && value !== null
      ? Object.values(value).flatMap(swallowed)
      : []

/** The sentences of an object, in it or in objects inside. */
export const sentencesIn = (value: LenientValue): ReadonlyArray<WrittenSentence> => {
  if (Array.isArray(value)) return value.flatMap(sentencesIn)
  if (!isFields(value)) return []
  const text = fieldOf(value, TEXT_NAMES)
  if (typeof text !== "string") return Object.values(value).flatMap(sentencesIn)
  const cited = fieldOf(value, CITATION_NAMES) ?? fieldOf(value, ["passage", "quote"])
  const list = cited === undefined ? [] : citationList(cited)
  const own = cited !== undefined && fieldOf(value, CITATION_NAMES) === undefined ? [value] : list
  const citations = own.filter((one) => !isSentence(one)).map(citationOf)
  const marked = objectSentence(text)
  const sentence = citations.length === 0 ? marked : { text: marked.text, citations }
  return [...(marked.text === "" ? [] : [sentence]), ...list.flatMap(swallowed).flatMap(sentencesIn)]
}

/** The first text in an object that is not complete. */
export const textSoFar = (value: LenientValue): string => {
  if (!isFields(value)) return ""
  const text = fieldOf(value, TEXT_NAMES)
  return typeof text === "string" ? text : ""
}

/** `{ "answered": false }`, `{ "answer": null }`. */
export const saysUnanswered = (value: LenientValue): boolean =>
  isFields(value) && (/^false$/i.test(String(value["answered"])) || value["answer"] === null)
