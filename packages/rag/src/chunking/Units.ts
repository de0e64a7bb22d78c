/** What passages are made of: blocks, and whole figures. */
import type { Block, Figure, Parsed, PassageFigure } from "../document/Document.ts"

/** A block, or a whole figure with its caption. */
export interface Unit extends Block {
  readonly figure?: Figure
}

/** The blocks with each figure in one piece: what of a block stands in a figure belongs to the figure. */
export const unitsOf = ({ blocks, figures, text }: Parsed): ReadonlyArray<Unit> => {
  if (figures.length === 0) return blocks
  const whole: Array<Unit> = []
  for (const figure of figures.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const start = Math.max(figure.start, whole.at(-1)?.end ?? 0)
    const unit = trimmed(text, { kind: figure.kind, start, end: figure.end, figure })
    if (unit !== undefined) whole.push(unit)
  }
  let next = 0
  const around = blocks.flatMap((block) => {
    while (next < whole.length && whole[next]!.end <= block.start) next++
    const parts: Array<Unit> = []
    let at = block.start
    for (let i = next; i < whole.length && whole[i]!.start < block.end; i++) {
      parts.push({ ...block, start: at, end: whole[i]!.start })
      at = Math.max(at, whole[i]!.end)
    }
    parts.push({ ...block, start: at, end: block.end })
    return parts.flatMap((part) => trimmed(text, part) ?? [])
  })
  return [...around, ...whole].toSorted((a, b) => a.start - b.start)
}

const trimmed = (text: string, unit: Unit): Unit | undefined => {
  const inside = text.slice(unit.start, unit.end)
  const start = unit.start + inside.length - inside.trimStart().length
  const end = unit.start + inside.trimEnd().length
  return start < end ? { ...unit, start, end } : undefined
}

/** What a passage, which starts at `from`, says of the figure that it is, or is a piece of. */
export const passageFigure = (parsed: Parsed, figure: Figure, from: number): PassageFigure => {
  const { box, caption, kind, number, page } = figure
  const head = headOf(parsed, figure, from)
  return {
    kind,
    caption:
      caption === undefined ? "" : parsed.text.slice(caption.start, caption.end).replace(/\s+/g, " ").trim(),
    ...(number === undefined ? {} : { number }),
    ...(page === undefined ? {} : { page }),
    ...(box === undefined ? {} : { box }),
    ...(head === "" ? {} : { head })
  }
}

/** What longer captions and header lines begin with says enough; the piece itself is to be seen by rerankers. */
const HEAD_CHARACTERS = 400

/** The header's line, and in Markdown the rule below it. */
const HEADER = /\S.*(?:\r?\n[ \t|:]*-[- \t|:]*(?=\r?\n|$))?/y

/** Caption and header line of a table where they stand before `from`; each cut to `HEAD_CHARACTERS`. */
const headOf = ({ format, text }: Parsed, { caption, end, kind, start }: Figure, from: number): string => {
  if (kind !== "table") return ""
  const above = caption !== undefined && caption.end <= from
  const body = above && caption.start <= start ? caption.end : start
  HEADER.lastIndex = body + text.slice(body, end).search(/\S/)
  const header = HEADER.exec(text)?.[0] ?? ""
  // Lines without cells are no header; those of a text file are parted by commas or the like
  const tabular = HEADER.lastIndex <= from && (format === "text" || header.includes("|"))
  return [
    above ? `${text.slice(caption.start, caption.end).slice(0, HEAD_CHARACTERS)}\n` : "",
    tabular ? header.slice(0, HEAD_CHARACTERS) : ""
  ]
    .filter((part) => part !== "")
    .join("\n")
}
