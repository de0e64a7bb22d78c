/** Parses the lines of a model's answer into cited sentences. */
import { Option, Schema } from "effect"
import { closestSentence, findQuote, sentencesOf } from "./Quote.ts"
import type { CitedSentence, Evidence, ReaderPassage } from "../models/Reader.ts"

/** The answer if the passages do not answer the question. */
export const NOT_FOUND = "NOT_FOUND"

const Line = Schema.fromJsonString(
  Schema.Struct({
    text: Schema.String,
    citations: Schema.Array(Schema.Struct({ passage: Schema.Int, quote: Schema.String }))
  })
)
const decodeLine = Schema.decodeUnknownOption(Line)

/** Pieces that some models write between sentences. */
const STRAY: ReadonlySet<string> = new Set([NOT_FOUND, "[", "]", "],"])

/** The longest object spread over lines, in characters. */
const MAX_OBJECT = 16_384

/** An incomplete object, or the marker of unfinished reasoning. */
export type Pending = string

/** Some models write their reasoning first. It is not part of the answer. */
const THINK = "<think>"
const THOUGHT = "</think>"

/** Between two objects on one line; within a quote these marks would be escaped. */
const NEXT_OBJECT = /(?<=\})[\s,]*(?=\{\s*"text"\s*:)/

/**
 * The sentences that one more line completes.
 *
 * **Details.** A JSON object is one sentence; anything else is read as prose with `[n]` markers. A quote that differs
 * from its passage only in spaces, case or typographic marks is replaced by the passage's own words; others are kept for
 * the caller to verify. A sentence without a valid passage is dropped.
 */
export const readLine = (
  pending: Pending,
  line: string,
  passages: ReadonlyArray<ReaderPassage>
): readonly [Pending, ReadonlyArray<CitedSentence>] => {
  if (pending === THINK || (pending === "" && line.trimStart().startsWith(THINK))) {
    const end = line.indexOf(THOUGHT)
    return end === -1 ? [THINK, []] : readLine("", line.slice(end + THOUGHT.length), passages)
  }
  const read: Array<CitedSentence> = []
  for (const piece of line.split(NEXT_OBJECT)) {
    const [rest, sentences] = readPiece(pending, piece, passages)
    pending = rest
    read.push(...sentences)
  }
  return [pending, read]
}

const readPiece = (
  pending: Pending,
  piece: string,
  passages: ReadonlyArray<ReaderPassage>
): readonly [Pending, ReadonlyArray<CitedSentence>] => {
  const text = piece
    .trim()
    .replace(/^```\w*$/, "")
    .replace(/^\[\s*(?=\{)/, "")
  if (text === "" || (pending === "" && STRAY.has(text))) return [pending, []]
  if (pending !== "" || text.startsWith("{")) {
    const json = `${pending}${text}`
    const object = decodeLine(json.replace(/(?<=\})[\s,\]]+$/, ""))
    if (Option.isNone(object)) return [json.length > MAX_OBJECT ? "" : json, []]
    const evidence = object.value.citations.flatMap(({ passage, quote }) =>
      evidenceOf(passage, quote, passages)
    )
    return ["", sentence(object.value.text, evidence)]
  }
  return ["", proseSentences(text, passages)]
}

const sentence = (text: string, evidence: ReadonlyArray<Evidence>): ReadonlyArray<CitedSentence> =>
  text.trim() === "" || evidence.length === 0 ? [] : [{ text: text.trim(), evidence }]

const evidenceOf = (
  n: number,
  quote: string,
  passages: ReadonlyArray<ReaderPassage>
): ReadonlyArray<Evidence> => {
  const passage = passages[n - 1]
  if (passage === undefined || quote.trim() === "") return []
  return [{ passage: n - 1, quote: findQuote(quote, passage.text) ?? quote }]
}

/** The lookbehind prevents quadratic matching of long runs of spaces. */
const MARKERS = /(?<!\s)\s*\[(\d+(?:\s*,\s*\d+)*)\]/g

/** A marker belongs to the sentence before it, on either side of the full stop. */
const proseSentences = (text: string, passages: ReadonlyArray<ReaderPassage>): ReadonlyArray<CitedSentence> =>
  sentencesOf(text.replace(/([.!?。！？])((?:\s*\[[\d\s,]+\])+)/g, "$2$1")).flatMap((cited) => {
    const claim = cited.replace(MARKERS, "").trim()
    const numbers = [...cited.matchAll(MARKERS)].flatMap(([, list]) => (list ?? "").split(",").map(Number))
    const evidence = [...new Set(numbers)].flatMap((n) => {
      const quote = closestSentence(claim, passages[n - 1]?.text ?? "")
      return quote === undefined ? [] : [{ passage: n - 1, quote }]
    })
    return sentence(claim, evidence)
  })
