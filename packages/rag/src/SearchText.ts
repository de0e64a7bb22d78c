/** What a passage is found by: where it stands, what it says, and what is said of it. */
import type { Figure, Parsed, Passage } from "./Document.ts"

/** What paragraphs say of a figure counts for so many characters at most. */
const MENTIONS_CHARACTERS = 600

/** A question is looked up by so many of its characters at most. */
const QUESTION_CHARACTERS = 4_000

/** Title of the document and path of headings, as readers and rerankers see it. */
export const titleOf = (title: string, headings: ReadonlyArray<string>): string =>
  (headings[0] === title ? headings : [title, ...headings]).join(" › ")

/**
 * The text that stands for a passage: where it stands, what it says, and `mentions`, what paragraphs elsewhere say of it.
 * Structure is worth as much as a better model.
 */
export const embeddedText = (title: string, passage: Passage, mentions = ""): string =>
  `${titleOf(title, passage.headings)}\n${passage.text}${mentions === "" ? "" : `\n${mentions}`}`

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

/** Letters and digits, and what joins them to names: `Effect.retry`, `ERR_1042`. */
const RUN = /[\p{L}\p{N}_$.]+/gu

/** What is longer is no name. */
const NAME_CHARACTERS = 120

/** Where a part ends within a name: `parse|HTTP|Header`, `utf8|Array`; `PDFs` stays whole. */
const PART_END = /\p{Ll}(?=\p{Lu})|\p{N}(?=\p{Lu}\p{Ll})|\p{Lu}(?=\p{Lu}\p{Ll}{2})/gu

const withParts = (text: string): string => {
  const parts = new Set<string>()
  for (const [run] of text.matchAll(RUN)) {
    if (run.length > NAME_CHARACTERS || /^[\p{Ll}\p{N}]+\.?$/u.test(run)) continue
    const split = run
      .replace(PART_END, "$& ")
      .replace(/[_$.]+/g, " ")
      .trim()
    if (split !== run.replace(/^\.+|\.+$/g, "") && /\p{L}/u.test(split)) parts.add(split)
  }
  return parts.size === 0 ? text : `${text}\n${[...parts].join(" ")}`
}
