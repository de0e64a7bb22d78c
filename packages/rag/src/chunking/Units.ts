/** The units of passages: blocks, and whole figures. */
import type { Block, Figure, Parsed, PassageFigure, Span } from "../document/Document.ts"

/** A block, or a whole figure with its caption. */
export interface Unit extends Block {
  readonly figure?: Figure
}

/** The blocks, with each figure as one unit. The part of a block inside a figure belongs to the figure. */
export const unitsOf = ({ blocks, figures, text }: Parsed): ReadonlyArray<Unit> => {
  if (figures.length === 0) return blocks
  const wholeFigures: Array<Unit> = []
  for (const figure of figures.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const start = Math.max(figure.start, wholeFigures.at(-1)?.end ?? 0)
    const unit = trimmed(text, { kind: figure.kind, start, end: figure.end, figure })
    if (unit !== undefined) wholeFigures.push(unit)
  }
  let next = 0
  const around = blocks.flatMap((block) => {
    while (next < wholeFigures.length && wholeFigures[next]!.end <= block.start) next++
    const parts: Array<Unit> = []
    let at = block.start
    for (let i = next; i < wholeFigures.length && wholeFigures[i]!.start < block.end; i++) {
      parts.push({ ...block, start: at, end: wholeFigures[i]!.start })
      at = Math.max(at, wholeFigures[i]!.end)
    }
    parts.push({ ...block, start: at, end: block.end })
    return parts.flatMap((part) => trimmed(text, part) ?? [])
  })
  return [...around, ...wholeFigures].toSorted((a, b) => a.start - b.start)
}

const trimmed = (text: string, unit: Unit): Unit | undefined => {
  const inside = text.slice(unit.start, unit.end)
  const start = unit.start + inside.length - inside.trimStart().length
  const end = unit.start + inside.trimEnd().length
  return start < end ? { ...unit, start, end } : undefined
}

/** Characters kept of a caption: each piece of a figure has a copy. */
const MAX_CAPTION = 300

const captionText = (text: string, { end, start }: Span): string =>
  text
    .slice(start, Math.min(end, start + 2 * MAX_CAPTION))
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, MAX_CAPTION)
    .toWellFormed()

/** The figure of a passage that starts at `from`. The passage may be a piece of it. */
export const passageFigure = (parsed: Parsed, figure: Figure, from: number): PassageFigure => {
  const { box, caption, kind, number, page } = figure
  const head = headOf(parsed, figure, from)
  return {
    kind,
    caption: caption === undefined ? "" : captionText(parsed.text, caption),
    ...(number === undefined ? {} : { number }),
    ...(page === undefined ? {} : { page }),
    ...(box === undefined ? {} : { box }),
    ...(head === "" ? {} : { head })
  }
}

/** Characters of a caption or header line. Rerankers must see the piece of the table too. */
const HEAD_CHARACTERS = 400

/** The header line, and in Markdown the line of dashes below it. Each piece looks for it, so that longer lines are none. */
const HEADER = /\S.{0,4000}$(?:\r?\n[ \t|:]{0,400}-[- \t|:]{0,4000}$)?/my

/** The caption and header line of a table before `from`, each cut to `HEAD_CHARACTERS`. */
const headOf = ({ text }: Parsed, { caption, end, kind, start }: Figure, from: number): string => {
  if (kind !== "table") return ""
  const above = caption !== undefined && caption.end <= from
  const body = above && caption.start <= start ? caption.end : start
  HEADER.lastIndex = body + text.slice(body, end).search(/\S/)
  const header = HEADER.exec(text)?.[0] ?? ""
  // A line without cells is not a header.
  const tabular = HEADER.lastIndex <= from && header.includes("|")
  return [
    above ? `${text.slice(caption.start, caption.end).slice(0, HEAD_CHARACTERS)}\n` : "",
    tabular ? header.slice(0, HEAD_CHARACTERS) : ""
  ]
    .filter((part) => part !== "")
    .join("\n")
}
