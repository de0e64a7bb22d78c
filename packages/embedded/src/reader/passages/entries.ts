/** Lists without marks: of a telephone list, a log or JSON each line says something by itself, with what is indented below it. */

/** A shorter block is read whole: it may be an address. */
const LIST_FROM = 400
const AT_LEAST = 3

/** How no line of prose begins, or not several: a number, a bracket, a word with a colon. */
const MARKED = /^\s*(?:[\p{N}\p{P}\p{S}]|[\p{L}\p{N}_.-]{1,40}\s?[:=：])/u
/** “Telephone: 22 00 17”: many such lines are the sheet of one thing, which is named in one of them alone. */
const FIELD = /^\s*["']?[\p{L}\p{M}_ .-]{1,40}(?:["']?\s?[:=：]|(?:\t| {2,})\S+(?: \S+)*\s*$)/u
/** Prose goes on in lower case, and ends its sentences. */
const GOES_ON = /^\s*[\p{Ll}\p{Lo}]/u
const ENDS_SENTENCE = /[.!?。！？]["'”’)\]]*\s*$/u

/** Where each entry of a block of plain text begins; undefined where its lines are none. */
export const findEntries = (source: string): ReadonlyArray<number> | undefined => {
  if (source.length < LIST_FROM) return undefined
  const lines = [...source.matchAll(/^.*\S.*$/gm)].map(({ 0: text, index }) => ({
    text,
    index,
    indent: text.length - text.trimStart().length
  }))
  const counts = Map.groupBy(lines, ({ indent }) => indent)
  const base = Math.min(...[...counts].flatMap(([indent, { length }]) => (length >= AT_LEAST ? indent : [])))
  const entries = lines.filter(({ indent }) => indent <= base)
  const fields = entries.filter(({ text }) => FIELD.test(text)).length
  if (entries.length < AT_LEAST || fields > entries.length / 2) return undefined
  const all = (holds: (line: string) => boolean): boolean => entries.every(({ text }) => holds(text))
  return all((line) => MARKED.test(line)) || all((line) => !GOES_ON.test(line) && !ENDS_SENTENCE.test(line))
    ? entries.map(({ indent, index }) => index + indent)
    : undefined
}
