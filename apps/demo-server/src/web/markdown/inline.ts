/** Inline Markdown. Nothing is moved: every visible run keeps its offsets in the text. */

/** Visible characters, `start` to `end` of the text, and their style. */
export interface TextRun {
  readonly start: number
  readonly end: number
  readonly strong?: true
  readonly emphasis?: true
  readonly code?: true
  readonly href?: string
  /** At the end of a link whose text does not begin with its address: where it leads. */
  readonly host?: string
}

type Style = Omit<TextRun, "start" | "end">

/** One construct; the named groups tell which. All are bounded, so that the time grows with the text's length only. */
const CONSTRUCT = new RegExp(
  [
    String.raw`(?<fence>${"`"}{1,8})(?<code>[^${"`"}](?:.{0,1000}?[^${"`"}])?)\k<fence>(?!${"`"})`,
    String.raw`!?\[(?<label>[^\]]{0,1000})\]\((?<href>[^)\s]{0,2000})(?:\s{1,9}"[^"]{0,300}")?\)`,
    String.raw`<(?<auto>https?:[^>\s]{1,2000})>`,
    String.raw`(?<two>\*\*|__)(?=\S)(?<strong>.{1,1000}?)(?<=\S)\k<two>`,
    String.raw`(?<![\w*])(?<one>[*_])(?=\S)(?<emphasis>.{1,1000}?)(?<=\S)\k<one>(?![\w*])`,
    String.raw`\\(?<escaped>[!-/:-@[-${"`"}{-~])`,
    String.raw`(?<tag></?[a-z][^>]{0,2000}>|<!--.{0,2000}?-->)`
  ].join("|"),
  "dgis"
)

/** The groups that are visible. */
const parts = ["code", "label", "auto", "strong", "emphasis", "escaped"] as const

const styleOf = (part: (typeof parts)[number], groups: Record<string, string | undefined>): Style => {
  if (part === "code") return { code: true }
  if (part === "strong") return { strong: true }
  if (part === "emphasis") return { emphasis: true }
  const href = part === "label" ? groups["href"] : part === "auto" ? groups["auto"] : undefined
  return href !== undefined && /^https?:\/\//i.test(href) ? { href } : {}
}

/** Where a link leads, unless its text says so. */
const hostOf = ({ href }: Style, text: string): { host?: string } => {
  if (href === undefined || !URL.canParse(href)) return {}
  const { host, origin } = new URL(href)
  return `${text}/`.toLowerCase().startsWith(`${origin}/`) ? {} : { host }
}

/** A longer part, in characters, was not written by hand: it is shown as it is. */
const MAX_LENGTH = 100_000

/** The visible runs of `text` from `start` to `end`, in order. */
export const markdownRuns = (text: string, start: number, end: number, outer: Style = {}): Array<TextRun> => {
  if (end - start > MAX_LENGTH) return [{ start, end, ...outer }]
  const runs: Array<TextRun> = []
  const plain = (from: number, to: number) => {
    if (to > from) runs.push({ start: from, end: to, ...outer })
  }
  let at = start
  for (const match of text.slice(start, end).matchAll(CONSTRUCT)) {
    const from = start + match.index
    if (from < at) continue
    const { groups = {}, indices } = match
    const part = parts.find((each) => groups[each] !== undefined)
    plain(at, from)
    at = from + match[0].length
    const visible = part && indices?.groups?.[part]
    if (part === undefined || visible === undefined) continue
    const inner = { start: start + visible[0], end: start + visible[1] }
    // A link inside a link leads where the outer one does, whose host is shown.
    const style = { ...styleOf(part, groups), ...outer }
    const isLeaf = part === "code" || part === "escaped" || part === "auto"
    const of = isLeaf ? [{ ...inner, ...style }] : markdownRuns(text, inner.start, inner.end, style)
    const last = of.pop()
    if (last === undefined) continue
    const isLink = part === "label" || part === "auto"
    runs.push(...of, { ...last, ...(isLink && hostOf(style, text.slice(inner.start, inner.end))) })
  }
  plain(at, end)
  return runs
}

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
    .filter((line) => !markdown || !/^(?:\s*(?:`{3}|~{3})|[|:\s-]+$)/.test(line))
    .map((line) => (markdown && line.trimStart().startsWith("|") ? withoutPipes(line) : line))
    .map((line) =>
      sentenceRuns(line, markdown)
        .map(({ end, start }) => line.slice(start, end))
        .join("")
    )
    .join(" ")
