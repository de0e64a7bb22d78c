/** The texts by which a passage is embedded, searched and ranked. */
import { searchedWords } from "@sluice/core/text"
import type { Figure, Parsed, Passage } from "./Document.ts"

/** Characters of the paragraphs that refer to a figure. */
const MENTIONS_CHARACTERS = 600

/** Characters of a question that are searched. */
const QUESTION_CHARACTERS = 4_000

/**
 * The title of the document and the headings, as readers and rerankers get them. The separator is ASCII: one character
 * beyond Latin-1 makes V8 store a string with two bytes per character.
 */
export const titleOf = (title: string, headings: ReadonlyArray<string>): string =>
  (headings[0] === title ? headings : [title, ...headings]).join(" > ")

/** A passage; a later piece of a table has the caption and the header line first. */
export const headedText = ({ figure, text }: Passage): string =>
  figure?.head === undefined ? text : `${figure.head}\n${text}`

/** The text that is ranked: the passage, paragraphs that refer to its figure, and the front matter. */
export const rankedText = (passage: Passage): string => {
  const { about, figure } = passage
  return [headedText(passage), figure?.said, about].filter((part) => part !== undefined).join("\n")
}

/** The text that is embedded: the title and headings, then the ranked text. */
export const embeddedText = (title: string, passage: Passage): string =>
  `${titleOf(title, passage.headings)}\n${rankedText(passage)}`

/** The beginning of each paragraph that refers to a figure, as much as fits. */
export const mentionsOf = (parsed: Parsed, { mentions }: Figure): string => {
  const each = Math.floor(MENTIONS_CHARACTERS / Math.max(1, mentions.length))
  return mentions
    .map(({ end, start }) => parsed.text.slice(start, Math.min(end, start + Math.max(each, 100))))
    .join("\n")
    .slice(0, MENTIONS_CHARACTERS)
}

/** Longer runs are not names. */
const NAME_CHARACTERS = 120

/** The end of a part of a name: `parse|HTTP|Header`, `utf8|Array`. `PDFs` is one part. */
export const PART_END = /\p{Ll}(?=\p{Lu})|\p{N}(?=\p{Lu}\p{Ll})|\p{Lu}(?=\p{Lu}\p{Ll}{2})/gu

const OUTSIDE = 0
const PLAIN = 1
const CAPITAL = 2
const JOINT = 3
const POINT = ".".charCodeAt(0)

/** Latin letters and digits, and the characters that join them to names: `Effect.retry`, `ERR_1042`. */
const classes = Uint8Array.from({ length: 0x250 }, (_, code) => {
  const character = String.fromCharCode(code)
  if ("_$.".includes(character)) return JOINT
  if (/\p{Lu}/u.test(character)) return CAPITAL
  return /[\p{L}\p{N}]/u.test(character) ? PLAIN : OUTSIDE
})

/**
 * The text of keyword search: the embedded text, and the parts of each identifier in it.
 *
 * **Details.** `parseHTTPHeader` is found as it is and as parse, http, header; `ERR_1042` as err, 1042; `Effect.retry`
 * as effect, retry. Without the parts, descriptions find functions far less often (nDCG@10 .54 → .41).
 */
export const searchText = (text: string): string => {
  const parts = new Set<string>()
  // A loop over characters, because every ingested text passes here and most words are no identifiers.
  for (let i = 0; i < text.length; i++) {
    const start = i
    let name = false
    // A point at the end of a sentence joins nothing.
    let points = false
    for (; i < text.length; i++) {
      const code = text.charCodeAt(i)
      const kind = code < classes.length ? classes[code] : OUTSIDE
      if (kind === OUTSIDE) break
      if (code === POINT) points = i > start
      else if (points || kind === JOINT || (kind === CAPITAL && i > start)) name = true
    }
    if (name && i - start <= NAME_CHARACTERS) addParts(text.slice(start, i), parts)
  }
  return parts.size === 0 ? text : `${text}\n${[...parts].join(" ")}`
}

/** The same for a question, without the function words that the keyword index does not know. */
export const searchWords = (question: string): string =>
  searchText(searchedWords(question.slice(0, QUESTION_CHARACTERS)))

const addParts = (run: string, parts: Set<string>): void => {
  const split = run
    .replace(PART_END, "$& ")
    .replace(/[_$.]+/g, " ")
    .trim()
  if (split !== run.replace(/^\.+|(?<!\.)\.+$/g, "") && /\p{L}/u.test(split)) parts.add(split)
}
