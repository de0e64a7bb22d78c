/** What passages are made of: blocks, and whole figures. */
import type { Block, Figure, Parsed, PassageFigure } from "./Document.ts"

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

/** What a passage says of the figure that it is. */
export const passageFigure = (text: string, { box, caption, kind, number, page }: Figure): PassageFigure => ({
  kind,
  caption: caption === undefined ? "" : text.slice(caption.start, caption.end).replace(/\s+/g, " ").trim(),
  ...(number === undefined ? {} : { number }),
  ...(page === undefined ? {} : { page }),
  ...(box === undefined ? {} : { box })
})
