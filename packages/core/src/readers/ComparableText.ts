/** A text as a reader sees it, for comparison: without marks, forms of characters, and white space that do not show. */

export interface ComparableText {
  readonly text: string
  /** The offsets in the original of each character of `text`: where it starts, and where it ends. */
  readonly starts: ReadonlyArray<number>
  readonly ends: ReadonlyArray<number>
}

/** Marks of one kind: quotation marks, and dashes. */
const QUOTATION_MARK = /^["'“”„‟‘’‚‛«»‹›`´′″「」『』]$/u
const DASH = /^[\p{Pd}\u2212]$/u

/** What does not show: marks of Markdown, and characters such as soft hyphens and joiners. */
const INVISIBLE = /^[*_#>~\\\p{Default_Ignorable_Code_Point}]$/u

/** White space, and what separates the cells of a table. */
const SPACE = /^[\s|·•]$/u

/** A link or image of Markdown, to its label and the rest; the sign before an item of a list. */
const CONSTRUCT =
  /!?\[(?<label>(?:[^[\]\n]|\[[^[\]\n]*\])*)\]\((?:[^()\s]|\([^()\s]*\))*\)|[-+](?<=^[^\S\n]{0,20}[-+])(?=[^\S\n])/gm

/** The parts of a text that show: all but the addresses of links, and the signs of lists. */
const visibleParts = function* (source: string): Generator<readonly [start: number, end: number]> {
  let at = 0
  for (const match of source.matchAll(CONSTRUCT)) {
    yield [at, match.index]
    const label = match.groups?.["label"]
    const start = match.index + match[0].indexOf("[") + 1
    if (label !== undefined) yield [start, start + label.length]
    at = match.index + match[0].length
  }
  yield [at, source.length]
}

export const comparableText = (source: string): ComparableText => {
  let text = ""
  const starts: Array<number> = []
  const ends: Array<number> = []
  for (const [from, to] of visibleParts(source)) {
    let at = from
    for (const character of source.slice(from, to)) {
      const start = at
      at += character.length
      if (INVISIBLE.test(character)) continue
      const isSpace = SPACE.test(character)
      if (isSpace && (text === "" || text.endsWith(" "))) continue
      const shown = isSpace
        ? " "
        : QUOTATION_MARK.test(character)
          ? "'"
          : DASH.test(character)
            ? "-"
            : character.normalize("NFKC").toLowerCase()
      text += shown
      for (let i = 0; i < shown.length; i++) {
        starts.push(start)
        ends.push(at)
      }
    }
  }
  return { text, starts, ends }
}
