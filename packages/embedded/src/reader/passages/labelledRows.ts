/** What a chart or a short list measures: a line each, a label and its number, as “July: 1043” or “Mill wheel 18 %”. */
import type { TextBlock } from "./TextBlock.ts"

/** Prose may end a line or two with a number by chance. */
const AT_LEAST = 3

const LABELLED =
  /^\s*\p{L}[^\s.!?。！？|]{0,40}(?:\s[^\s.!?。！？|]{1,40}){0,4}?(?<!\s(?:in|of|by|to|from|at|on|since|until|and|or|the|for|with|page|section))[\s:：]\s*[-+±~<>≈]?\d[\d.,]{0,20}\s?(?:%|\S{1,12})?\s*$/u
/** A label and what was measured several times: a line of a table within a figure. */
const SEVERAL = /^\s*\p{L}.{0,80}\s\d[\d.,%±]*\s+(?:\S+\s+)?\d[\d.,%±]*(?:\s|$)/u

/**
 * The rows that begin at `from`, the start of a line, and where they end; undefined when fewer than three do, or, within
 * a figure, none.
 */
export const labelledRows = (
  text: string,
  from: number,
  inside: boolean
): { readonly blocks: ReadonlyArray<TextBlock>; readonly end: number } | undefined => {
  const blocks: Array<TextBlock> = []
  let end = from
  for (let at = from; at < text.length;) {
    const newline = text.indexOf("\n", at)
    const lineEnd = newline < 0 ? text.length : newline
    const line = text.slice(at, lineEnd)
    if (!LABELLED.test(line) && !(inside && SEVERAL.test(line))) break
    const start = at + line.length - line.trimStart().length
    blocks.push({ kind: "row", start, end: at + line.trimEnd().length })
    at = lineEnd + 1
    end = Math.min(at, text.length)
  }
  return blocks.length < (inside ? 1 : AT_LEAST) ? undefined : { blocks, end }
}
