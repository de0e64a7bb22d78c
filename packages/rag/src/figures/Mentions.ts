/** Paragraphs that refer to figures and tables: "see Fig. 3", "Tables 2 and 4", "如图 3 所示". */
import type { Block, Figure, Span } from "../Document.ts"
import { FIGURE_WORDS, NUMBER, sameNumber, TABLE_WORDS } from "./Label.ts"

/** A figure is embedded with this many paragraphs at most that refer to it: the first ones say most. */
const MENTIONS_AT_MOST = 8

const REFERENCE = new RegExp(
  `(?<!\\p{L})(?:(${FIGURE_WORDS})|(${TABLE_WORDS}))[\\s\\u00A0]*(?:no\\.?\\s*)?((?:${NUMBER})(?:\\s*\\([a-z]\\))?(?:\\s*(?:,|and|or|to|&|–|-|und|et|y|、|和|与|及|至|～)\\s*(?:${NUMBER}))*)`,
  "giu"
)
const CJK_REFERENCE = new RegExp(
  `(?:(图表|图|圖|그림)|(表格|表|표))\\s*((?:${NUMBER})(?:[、和与及至～]\\s*(?:${NUMBER}))*)`,
  "gu"
)
const EACH_NUMBER = new RegExp(NUMBER, "gu")
const RANGE = /(\d+)\s*(?:–|-|to|至|～)\s*(\d+)/

/** The kinds and numbers that a text refers to, as `figure 3`. */
const referencesIn = (text: string): ReadonlySet<string> => {
  const found = new Set<string>()
  for (const pattern of [REFERENCE, CJK_REFERENCE]) {
    for (const [, figure, table, numbers = ""] of text.matchAll(pattern)) {
      const kind = figure === undefined && table !== undefined ? "table" : "figure"
      const add = (number: string): void => void found.add(`${kind} ${sameNumber(number)}`)
      for (const [number] of numbers.matchAll(EACH_NUMBER)) {
        add(number)
        // "Fig. 3a" is a part of figure 3
        add(number.replace(/(?<=\d)[a-z]$/i, ""))
      }
      const [, from, to] = RANGE.exec(numbers) ?? []
      if (from !== undefined && to !== undefined && Number(to) - Number(from) < 20) {
        // Both a range and a number such as 2-1: what no figure has is referred to in vain
        for (let n = Number(from); n <= Number(to); n++) add(String(n))
        add(`${from}-${to}`)
      }
    }
  }
  return found
}

/**
 * The figures with the paragraphs and list items that refer to them by kind and number; figures without a number have
 * none. What stands within figures is no reference.
 */
export const withMentions = (
  text: string,
  blocks: ReadonlyArray<Block>,
  figures: ReadonlyArray<Figure>
): ReadonlyArray<Figure> => {
  const named = new Map<string, Array<Span>>()
  for (const { kind, number } of figures) {
    if (number !== undefined) named.set(`${kind} ${sameNumber(number)}`, [])
  }
  if (named.size === 0) return figures
  const spans = figures.toSorted((a, b) => a.start - b.start)
  let next = 0
  for (const { end, kind, start } of blocks) {
    while (next < spans.length && spans[next]!.end <= start) next++
    const within = next < spans.length && spans[next]!.start < end
    if (within || (kind !== "paragraph" && kind !== "list")) continue
    for (const reference of referencesIn(text.slice(start, end))) {
      const mentions = named.get(reference)
      if (mentions !== undefined && mentions.length < MENTIONS_AT_MOST) mentions.push({ start, end })
    }
  }
  return figures.map((figure) =>
    figure.number === undefined
      ? figure
      : { ...figure, mentions: named.get(`${figure.kind} ${sameNumber(figure.number)}`) ?? [] }
  )
}
