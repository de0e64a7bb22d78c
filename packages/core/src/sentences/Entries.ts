/** Lists without marks, such as a telephone list, a log or JSON: each line, with what is indented below it, is an entry. */

/** A shorter block, such as an address, is one unit. In characters. */
const MIN_LENGTH = 400
const MIN_ENTRIES = 3

/** Beginnings that prose does not have on several lines: a number, a bracket, a word with a colon. */
const MARKED = /^\s*(?:[\p{N}\p{P}\p{S}]|[\p{L}\p{N}_.-]{1,40}\s?[:=：])/u
/** “Telephone: 22 00 17”. Many such lines describe one thing, which only one of them names. */
const FIELD = /^["']?[\p{L}\p{M}_ .-]{1,40}(?:["']?\s?[:=：]|(?:\t| {2,})\S+(?: \S+)*\s*$)/u
/** Prose continues in lower case, and ends its sentences. */
const CONTINUES = /^\s*[\p{Ll}\p{Lo}]/u
const ENDS_SENTENCE = /[.!?。！？]["'”’)\]]*\s*$/u

/** The start of each entry in a block of plain text. Undefined if it is not a list. */
export const findEntries = (source: string): ReadonlyArray<number> | undefined => {
  if (source.length < MIN_LENGTH) return undefined
  const lines = [...source.matchAll(/^.*\S.*$/gm)].map(({ 0: text, index }) => ({
    text,
    index,
    indent: text.length - text.trimStart().length
  }))
  const counts = Map.groupBy(lines, ({ indent }) => indent)
  const base = Math.min(
    ...[...counts].flatMap(([indent, { length }]) => (length >= MIN_ENTRIES ? indent : []))
  )
  const entries = lines.filter(({ indent }) => indent <= base)
  const fields = entries.filter(({ text }) => FIELD.test(text.trimStart())).length
  if (entries.length < MIN_ENTRIES || fields > entries.length / 2) return undefined
  const all = (holds: (line: string) => boolean): boolean => entries.every(({ text }) => holds(text))
  return all((line) => MARKED.test(line)) || all((line) => !CONTINUES.test(line) && !ENDS_SENTENCE.test(line))
    ? entries.map(({ indent, index }) => index + indent)
    : undefined
}
