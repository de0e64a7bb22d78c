/** Markdown within a block, read without moving anything: every visible run keeps its place in the text. */

/** Visible characters `start` to `end` of the text, and how they look. */
export interface Run {
  readonly start: number
  readonly end: number
  readonly strong?: true
  readonly emphasis?: true
  readonly code?: true
  readonly href?: string
}

type Look = Omit<Run, "start" | "end">

/** One construct at a time, the earliest first; groups tell which. */
const CONSTRUCT = new RegExp(
  [
    String.raw`(?<fence>${"`"}+)(?<code>[^${"`"}](?:.*?[^${"`"}])?)\k<fence>(?!${"`"})`,
    String.raw`!?\[(?<label>[^\]]*)\]\((?<href>[^)\s]*)(?:\s+"[^"]*")?\)`,
    String.raw`<(?<auto>https?:[^>\s]+)>`,
    String.raw`(?<two>\*\*|__)(?=\S)(?<strong>.+?)(?<=\S)\k<two>`,
    String.raw`(?<![\w*])(?<one>[*_])(?=\S)(?<emphasis>.+?)(?<=\S)\k<one>(?![\w*])`,
    String.raw`\\(?<escaped>[!-/:-@[-${"`"}{-~])`,
    String.raw`(?<tag></?[a-z][^>]*>|<!--.*?-->)`
  ].join("|"),
  "gis"
)

const parts = ["code", "label", "auto", "strong", "emphasis", "escaped"] as const

/** The part of a construct that is seen, and whether it is read for more constructs. */
const visible = (groups: Record<string, string | undefined>) => {
  const part = parts.find((name) => groups[name] !== undefined)
  return part === undefined ? undefined : { part, text: groups[part] ?? "" }
}

const lookOf = (part: (typeof parts)[number], groups: Record<string, string | undefined>): Look => {
  if (part === "code") return { code: true }
  if (part === "strong") return { strong: true }
  if (part === "emphasis") return { emphasis: true }
  const href = part === "label" ? groups["href"] : part === "auto" ? groups["auto"] : undefined
  return href !== undefined && /^https?:\/\//i.test(href) ? { href } : {}
}

/** Where the visible part stands inside the construct. */
const offsetOf = (
  part: (typeof parts)[number],
  whole: string,
  groups: Record<string, string | undefined>
): number =>
  part === "code"
    ? (groups["fence"] ?? "").length
    : part === "label"
      ? whole.indexOf("[") + 1
      : part === "strong"
        ? 2
        : 1

/** A longer part is no paragraph that somebody wrote by hand; it is shown as it is rather than searched for signs. */
const LONGEST = 100_000

/** The visible runs of `text` from `start` to `end`, in order. */
export const markdownRuns = (text: string, start: number, end: number, look: Look = {}): Array<Run> => {
  if (end - start > LONGEST) return [{ start, end, ...look }]
  const runs: Array<Run> = []
  const plain = (from: number, to: number) => {
    if (to > from) runs.push({ start: from, end: to, ...look })
  }
  let at = start
  for (const match of text.slice(start, end).matchAll(CONSTRUCT)) {
    const from = start + match.index
    if (from < at) continue
    const groups = match.groups ?? {}
    const seen = visible(groups)
    plain(at, from)
    at = from + match[0].length
    if (seen === undefined) continue
    const inner = from + offsetOf(seen.part, match[0], groups)
    const look2 = { ...look, ...lookOf(seen.part, groups) }
    const leaf = seen.part === "code" || seen.part === "escaped" || seen.part === "auto"
    if (leaf) runs.push({ start: inner, end: inner + seen.text.length, ...look2 })
    else runs.push(...markdownRuns(text, inner, inner + seen.text.length, look2))
  }
  plain(at, end)
  return runs
}
