/** Finds headings and their levels. */
import { bodyStyle, roundedSize } from "../page/Lines.ts"
import { CAPTION, type Paragraph } from "./Paragraphs.ts"

const NUMBERED =
  /^(?:(\d{1,2}(?:\.\d{1,2}){0,3})\.?|([A-Z])\.?(?=\s{1,4}[A-Z])|第[一二三四五六七八九十\d]+[章节])\s*(?=\p{L})/u
/** Characters of a heading. */
const MAX_LENGTH = 150
/** Factor by which a heading that is not bold is larger than the body. */
const MIN_ENLARGEMENT = 1.12

const textOf = (paragraph: Paragraph): string => paragraph.lines.map(({ text }) => text).join(" ")

const depthOf = (text: string): number | undefined => {
  const match = NUMBERED.exec(text)
  return match === null ? undefined : (match[1]?.split(".").length ?? 1)
}

/**
 * The levels of headings, 1 to 6, from the file's structure. If it has less than half as many headings as are found by style,
 * those are added.
 */
export const headingLevels = (paragraphs: ReadonlyArray<Paragraph>): ReadonlyMap<Paragraph, number> => {
  const tagged = new Map<Paragraph, number>()
  for (const paragraph of paragraphs) {
    const level = paragraph.kind === "table" ? undefined : paragraph.lines[0]!.heading
    if (level !== undefined) tagged.set(paragraph, level)
  }
  const styled = levelsByStyle(paragraphs)
  if (tagged.size === 0 || tagged.size < styled.size / 2) return new Map([...styled, ...tagged])
  // Some programs tag the title as a paragraph.
  const first = paragraphs.find((paragraph) => tagged.has(paragraph))!
  const title = paragraphs.slice(0, paragraphs.indexOf(first)).find((paragraph) => styled.has(paragraph))
  const isLarger = (title?.lines[0]!.size ?? 0) > first.lines[0]!.size
  return title !== undefined && isLarger ? tagged.set(title, 1) : tagged
}

/**
 * Headings are short, and larger than the body, or bold if the body is not. The level is the rank of the style; a number such
 * as 3.2 puts it below the style of 3.
 */
const levelsByStyle = (paragraphs: ReadonlyArray<Paragraph>): ReadonlyMap<Paragraph, number> => {
  const body = bodyStyle(paragraphs.flatMap(({ lines }) => lines))
  const found = paragraphs.filter((paragraph) => {
    if (paragraph.kind === "table" || paragraph.kind === "code" || paragraph.lines.length > 3) return false
    const text = textOf(paragraph)
    const numbered = depthOf(text) !== undefined
    if (text.length > MAX_LENGTH || CAPTION.test(text) || !/\p{L}{2}/u.test(text)) return false
    if (paragraph.kind === "list" && !numbered) return false
    const first = paragraph.lines[0]!
    if (first.turn !== 0 || paragraph.lines.some(({ cells }) => cells.length > 2)) return false
    if (/[.,;。，；]$/.test(text) && !/^\p{Lu}[\p{Ll} ]{2,40}\.$/u.test(text)) return false
    return (
      first.size >= body.size * MIN_ENLARGEMENT ||
      (first.bold && !body.bold && first.size >= body.size * 0.92 && /^[\p{Lu}\p{Lo}\p{N}]/u.test(text))
    )
  })
  const indices = new Map(paragraphs.map((paragraph, index) => [paragraph, index]))
  // Authors below the title are large, but not a heading
  const isByline = (paragraph: Paragraph, index: number): boolean => {
    const before = found[index - 1]
    const text = textOf(paragraph)
    return (
      before !== undefined &&
      before === paragraphs[indices.get(paragraph)! - 1] &&
      depthOf(text) === undefined &&
      before.lines[0]!.size > paragraph.lines[0]!.size * 1.1 &&
      (/,| and |[@{}]|\d{4}/.test(text) || paragraph.lines.length > 1)
    )
  }
  const style = (paragraph: Paragraph): number =>
    roundedSize(paragraph.lines[0]!.size) * 2 + (paragraph.lines[0]!.bold ? 0.5 : 0)
  const styles = [...new Set(found.map(style))].toSorted((a, b) => b - a)
  const rankOf = (paragraph: Paragraph): number => styles.indexOf(style(paragraph)) + 1
  const numbered = found.filter((paragraph) => depthOf(textOf(paragraph)) === 1)
  const top = Math.min(...numbered.map(rankOf))
  const levels = new Map<Paragraph, number>()
  for (const [index, paragraph] of found.entries()) {
    if (isByline(paragraph, index)) continue
    const depth = depthOf(textOf(paragraph))
    const rank = rankOf(paragraph)
    levels.set(paragraph, Math.min(6, depth === undefined || top === Infinity ? rank : top + depth - 1))
  }
  return levels
}
