/** Passages and quotes without Markdown's signs. */
import { markdownRuns, type TextRun } from "./inline.ts"

export const isMarkdown = (path: string): boolean => /\.(md|markdown|mdx)$/i.test(path)

const BLOCK_SIGN = /^\s*(>+|[-*+]|\d{1,4}[.)]|#{1,6})\s+/

/** The runs of one sentence or quote. */
export const sentenceRuns = (text: string, markdown: boolean): ReadonlyArray<TextRun> =>
  markdown
    ? markdownRuns(text, BLOCK_SIGN.exec(text)?.[0].length ?? 0, text.length)
    : [{ start: 0, end: text.length }]

/** Whether two texts differ only in white space. */
export const hasSameWords = (a: string, b: string): boolean =>
  a === b || a.replaceAll(/\s+/g, " ").trim() === b.replaceAll(/\s+/g, " ").trim()

/** `| a | b |` as `a · b`. */
const withoutPipes = (line: string): string =>
  line
    .trim()
    .replaceAll(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim())
    .join(" · ")

/** Several lines as one line of plain text. */
export const plainText = (text: string, markdown: boolean): string =>
  text
    .split("\n")
    .filter((line) => !markdown || !/^\s*(`{3,}|~{3,}|[|:\s-]+$)/.test(line))
    .map((line) => (markdown && line.trimStart().startsWith("|") ? withoutPipes(line) : line))
    .map((line) =>
      sentenceRuns(line, markdown)
        .map(({ end, start }) => line.slice(start, end))
        .join("")
    )
    .join(" ")
