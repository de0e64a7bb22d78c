/** What a passage is found by: where it stands, what it says, and what is said of it. */
import type { Figure, Parsed, Passage } from "./Document.ts"

/** What paragraphs say of a figure counts for so many characters at most. */
const MENTIONS_CHARACTERS = 600

/** A question is looked up by so many of its characters at most. */
const QUESTION_CHARACTERS = 4_000

/**
 * Title of the document and path of headings, as readers and rerankers see it: joined by ASCII, for one character beyond
 * Latin-1 makes V8 keep a whole passage in two bytes each.
 */
export const titleOf = (title: string, headings: ReadonlyArray<string>): string =>
  (headings[0] === title ? headings : [title, ...headings]).join(" > ")

/** A passage under the head of the table that it is a later piece of. */
export const headedText = ({ figure, text }: Passage): string =>
  figure?.head === undefined ? text : `${figure.head}\n${text}`

/** What a passage is ranked by: what it says under its head, what is said of its figure, and what of its document. */
export const rankedText = (passage: Passage): string => {
  const { about, figure } = passage
  return [headedText(passage), figure?.said, about].filter((part) => part !== undefined).join("\n")
}

/** The text that stands for a passage: where it stands, then that. Structure is worth as much as a better model. */
export const embeddedText = (title: string, passage: Passage): string =>
  `${titleOf(title, passage.headings)}\n${rankedText(passage)}`

/**
 * The text that keywords are looked up in: what is embedded, and the parts of each identifier in it.
 *
 * **Details.** `parseHTTPHeader` is found as it is and as parse, http, header; `ERR_1042` as err, 1042; `Effect.retry`
 * as effect, retry. Without the parts, descriptions find functions far less often (nDCG@10 .54 → .41).
 */
export const searchText = (embedded: string): string => withParts(embedded)

/** The same for a question, so that it meets passages however they write an identifier. */
export const searchWords = (question: string): string => withParts(question.slice(0, QUESTION_CHARACTERS))

/** What paragraphs say of a figure: from shortly before each mention, as much as fits. */
export const mentionsOf = (parsed: Parsed, { mentions }: Figure): string => {
  const each = Math.floor(MENTIONS_CHARACTERS / Math.max(1, mentions.length))
  return mentions
    .map(({ end, start }) => parsed.text.slice(start, Math.min(end, start + Math.max(each, 100))))
    .join("\n")
    .slice(0, MENTIONS_CHARACTERS)
}

/** What is longer is no name. */
const NAME_CHARACTERS = 120

/** Where a part ends within a name: `parse|HTTP|Header`, `utf8|Array`; `PDFs` stays whole. */
export const PART_END = /\p{Ll}(?=\p{Lu})|\p{N}(?=\p{Lu}\p{Ll})|\p{Lu}(?=\p{Lu}\p{Ll}{2})/gu

const OUTSIDE = 0
const PLAIN = 1
const CAPITAL = 2
const JOINT = 3
const POINT = ".".charCodeAt(0)

/** Latin letters and digits, and what joins them to names: `Effect.retry`, `ERR_1042`. */
const classes = Uint8Array.from({ length: 0x250 }, (_, code) => {
  const character = String.fromCharCode(code)
  if ("_$.".includes(character)) return JOINT
  if (/\p{Lu}/u.test(character)) return CAPITAL
  return /[\p{L}\p{N}]/u.test(character) ? PLAIN : OUTSIDE
})

const withParts = (text: string): string => {
  const parts = new Set<string>()
  // By hand, for all that is ingested passes here: most words are seen to be none of these without being cut out.
  for (let i = 0; i < text.length; i++) {
    const start = i
    let name = false
    // The points at the end of a sentence join nothing.
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

const addParts = (run: string, parts: Set<string>): void => {
  const split = run
    .replace(PART_END, "$& ")
    .replace(/[_$.]+/g, " ")
    .trim()
  if (split !== run.replace(/^\.+|\.+$/g, "") && /\p{L}/u.test(split)) parts.add(split)
}
