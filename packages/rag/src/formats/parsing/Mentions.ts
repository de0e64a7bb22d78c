/** Finds references to figures in paragraphs: "see Fig. 3", "Figures 3 and 4", "Figs. 2–5", "图 3". */
import type { Block, Figure, Span } from "../../document/Document.ts"
import { captionStart } from "./CaptionStart.ts"
import { normalizeNumber } from "./Label.ts"

const WORD =
  "(?:figures?|figs?\\.?|tables?|tabs?\\.|algorithms?|alg\\.|listings?|schemes?|charts?|plates?|exhibits?|diagrams?|graphs?|illustrations?|maps?|" +
  "abbildung(?:en)?|abb\\.|bild(?:er)?|tabellen?|tab\\.|figuras?|tableaux?|tablas?|cuadros?|tabelas?|quadros?|tabelle|tabella|" +
  "рис(?:ун[а-я]+|\\.)|табл(?:иц[а-я]+|\\.))"
const NUMBER = "(?:[A-Z]{1,2}[.-]?)?\\d{1,3}(?:[.\\-]\\d{1,3}){0,2}|[IVXLC]{1,6}(?![\\p{L}\\p{N}])"
/** A part of the figure, after its number. */
const PART = "(?:\\s?\\([a-z](?:\\s?[-–,]\\s?[a-z])*\\)|[a-z](?![\\p{L}]))?"
const JOIN =
  "\\s*(?:,\\s*(?:and|und|et|y|e|or)?|and|und|et|y|e|or|to|through|bis|&|–|—|-|to|和|与|及|、|至|到|~)\\s*"
const REFERENCE = new RegExp(
  `(?<![\\p{L}])(${WORD}|图表|图|圖|図|表格|表|그림|표)\\s*((?:${NUMBER})${PART}(?:${JOIN}(?:${NUMBER})${PART})*)`,
  "giu"
)
const CJK_REFERENCE = new RegExp(
  `(图表|图|圖|図|表格|表|그림|표)\\s*((?:${NUMBER})${PART}(?:${JOIN}(?:图|表|圖|図)?\\s*(?:${NUMBER})${PART})*)`,
  "giu"
)
const ONE = new RegExp(`(${NUMBER})${PART}(\\s*(?:–|—|-|to|through|bis|至|到|~)\\s*)?`, "giu")
/** Mentions kept of a figure: the first ones say most. */
const MAX_MENTIONS = 8
/** Figures of a range such as "Figs. 2–5". */
const MAX_RANGE = 30

const seriesOf = (word: string): string => {
  const lower = word.toLowerCase().replace(/\.$/, "")
  if (lower.startsWith("fig") || /^(?:图|圖|図|그림|图表|abb|bild|рис)/u.test(lower)) return "figure"
  if (/^(?:tab|表|표|cuadro|quadro|табл)/u.test(lower)) return "table"
  return lower.replace(/^alg$/, "algorithm").replace(/s$/, "")
}

/** The references in a text, as keys: `figure 3`, `table IV`. */
export const referencesIn = (text: string): ReadonlySet<string> => {
  const found = new Set<string>()
  const matches = [...text.matchAll(REFERENCE), ...text.matchAll(CJK_REFERENCE)]
  for (const [, word, list] of matches) {
    const series = seriesOf(word!)
    let from: number | undefined
    for (const [, number, range] of list!.matchAll(ONE)) {
      const value = Number(number)
      if (from !== undefined && Number.isInteger(value) && value - from < MAX_RANGE) {
        for (let n = from + 1; n < value; n++) found.add(`${series} ${n}`)
      }
      found.add(`${series} ${normalizeNumber(number!)}`)
      from = range !== undefined && Number.isInteger(value) ? value : undefined
    }
  }
  return found
}

/** The key of references to a figure; undefined if it has no number. */
export const referenceKey = (
  kind: Figure["kind"],
  number: string | undefined,
  caption: string | undefined
): string | undefined => {
  if (number === undefined) return undefined
  const word = caption === undefined ? undefined : captionStart(caption)?.word
  return `${word === undefined ? kind : seriesOf(word)} ${normalizeNumber(number)}`
}

/**
 * Adds the paragraphs and list items that refer to each figure, in reading order. Text in captions and figures is ignored.
 *
 * A reference consists of the caption's word and number: "Figure 2" does not refer to `Listing 2`. If the caption has no such
 * word, the figure's kind is used.
 */
export const withMentions = <F extends Omit<Figure, "mentions">>(
  text: string,
  blocks: ReadonlyArray<Block>,
  figures: ReadonlyArray<F>
): ReadonlyArray<F & Pick<Figure, "mentions">> => {
  const keys = figures.map(({ caption, kind, number }) =>
    referenceKey(kind, number, caption && text.slice(caption.start, caption.end))
  )
  const places = new Map(
    keys.flatMap((key) => (key === undefined ? [] : [[key, new Array<Span>()] as const]))
  )
  const spans = figures.toSorted((a, b) => a.start - b.start)
  let next = 0
  for (const { end, kind, start } of places.size === 0 ? [] : blocks) {
    while (next < spans.length && spans[next]!.end <= start) next++
    const within = next < spans.length && spans[next]!.start < end
    if (within || (kind !== "paragraph" && kind !== "list")) continue
    for (const key of referencesIn(text.slice(start, end))) {
      const own = places.get(key)
      if (own !== undefined && own.length < MAX_MENTIONS) own.push({ start, end })
    }
  }
  return figures.map((figure, index) => ({ ...figure, mentions: places.get(keys[index] ?? "") ?? [] }))
}
