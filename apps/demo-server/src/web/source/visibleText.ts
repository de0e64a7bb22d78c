/** A passage or a quote as a line of text: Markdown's signs are for the file, not for the reader. */
import { markdownRuns, type Run } from "./inline.ts"

export const isMarkdown = (path: string): boolean => /\.(md|markdown|mdx)$/i.test(path)

const BLOCK_SIGN = /^\s*(>+|[-*+]|\d{1,4}[.)]|#{1,6})\s+/

/** The runs of one sentence or quote. */
export const sentenceRuns = (text: string, markdown: boolean): ReadonlyArray<Run> =>
  markdown
    ? markdownRuns(text, BLOCK_SIGN.exec(text)?.[0].length ?? 0, text.length)
    : [{ start: 0, end: text.length }]

/** Several lines, as plain text. */
export const visibleText = (text: string, markdown: boolean): string =>
  text
    .split("\n")
    .filter((line) => !markdown || !/^\s*(`{3,}|~{3,}|[|:\s-]+$)/.test(line))
    .map((line) =>
      sentenceRuns(line, markdown)
        .map(({ end, start }) => line.slice(start, end))
        .join("")
    )
    .join(" ")
