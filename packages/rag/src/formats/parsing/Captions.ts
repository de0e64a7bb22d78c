/** Joins figures and tables with the captions beside them. */
import { type Block, type Figure, type Parsed, type Span, TEXT_ONLY } from "../../document/Document.ts"
import { labelOf, type Label } from "./Label.ts"
import { withMentions } from "./Mentions.ts"
import type { DraftBlock, FigureContent } from "./DraftBlock.ts"

/** A parsed document whose pictures are not loaded. */
export interface ParsedDraft extends Parsed {
  /** In the order of the figures. `figure` is an index of `figures`. */
  readonly pictures: ReadonlyArray<{ readonly figure: number; readonly reference: string }>
}

type Side = -1 | 1

/** The label of a caption. Paragraphs that the document marks as captions need none. */
const captionOf = (text: string, block: DraftBlock | undefined): Partial<Label> | undefined => {
  if (block?.kind !== "paragraph") return undefined
  return labelOf(text.slice(block.start, block.end), block.caption) ?? (block.caption ? {} : undefined)
}

/** The side of the caption of each figure that has none of its own, by index. */
const captionSides = (text: string, blocks: ReadonlyArray<DraftBlock>): ReadonlyMap<number, Side> => {
  const captions = new Map<number, Partial<Label> | undefined>()
  const uncaptioned = blocks.flatMap(({ figure }, at) =>
    figure !== undefined && figure.caption === undefined ? [at] : []
  )
  const taken = new Set<number>()
  const sides = new Map<number, Side>()
  const fits = (at: number, side: Side, anyKind: boolean): boolean => {
    const beside = at + side
    if (!captions.has(beside)) captions.set(beside, captionOf(text, blocks[beside]))
    const caption = captions.get(beside)
    if (caption === undefined || taken.has(beside)) return false
    return anyKind || caption.kind === undefined || caption.kind === blocks[at]!.kind
  }
  // Documents prefer one side. By default captions are above tables and below pictures
  const preferredSide = (kind: Block["kind"]): Side => {
    let below = 0
    for (const at of uncaptioned) {
      if (blocks[at]!.kind !== kind) continue
      below += Number(fits(at, 1, false)) - Number(fits(at, -1, false))
    }
    return below > 0 ? 1 : below < 0 ? -1 : kind === "table" ? -1 : 1
  }
  const preferred = { table: preferredSide("table"), figure: preferredSide("figure") }
  for (const anyKind of [false, true]) {
    for (const at of uncaptioned) {
      if (sides.has(at)) continue
      const first = preferred[blocks[at]!.kind === "table" ? "table" : "figure"]
      const side = ([first, -first] as ReadonlyArray<Side>).find((side) => fits(at, side, anyKind))
      if (side === undefined) continue
      sides.set(at, side)
      taken.add(at + side)
    }
  }
  return sides
}

/** The caption within a figure: its marked one, or the first line of an alternative text that starts with a label. */
const ownCaption = (text: string, { figure, start, end }: DraftBlock): Span | undefined => {
  if (figure?.caption !== undefined || figure?.alternative === undefined) return figure?.caption
  const line = text.slice(start, end).split("\n", 1)[0]!
  return labelOf(line) === undefined ? undefined : { start, end: start + line.length }
}

/** Whether a table only arranges a page: one row or column, and no caption. */
const isLayoutTable = ({ alternative, caption, pictures, rows }: FigureContent): boolean =>
  caption === undefined && alternative === undefined && rows === undefined && pictures.length === 0

/** Adds captions, numbers and mentions to figures. A figure and its caption become one block. */
export const withFigures = (
  parsed: Pick<Parsed, "format" | "title" | "about" | "text"> & Partial<Pick<Parsed, "faults">>,
  drafts: ReadonlyArray<DraftBlock>
): ParsedDraft => {
  const { text } = parsed
  const sides = captionSides(text, drafts)
  const joined = new Set(Array.from(sides, ([at, side]) => at + side))
  const blocks: Array<Block> = []
  const figures: Array<Figure> = []
  const pictures: Array<ParsedDraft["pictures"][number]> = []
  drafts.forEach((draft, at) => {
    const { caption: _, figure, ...block } = draft
    if (joined.has(at)) return
    const side = sides.get(at)
    if (figure === undefined || (side === undefined && isLayoutTable(figure))) {
      blocks.push(block)
      return
    }
    const beside = side === undefined ? undefined : drafts[at + side]!
    const start = Math.min(block.start, beside?.start ?? block.start)
    const end = Math.max(block.end, beside?.end ?? block.end)
    const caption = beside ?? ownCaption(text, draft)
    const label = caption && labelOf(text.slice(caption.start, caption.end), true)
    const kind = label?.kind ?? (block.kind === "table" ? "table" : "figure")
    blocks.push({ kind: block.kind, start, end })
    for (const { reference } of figure.pictures) pictures.push({ figure: figures.length, reference })
    figures.push({
      start,
      end,
      kind,
      ...(label?.number === undefined ? {} : { number: label.number }),
      ...(caption === undefined ? {} : { caption: { start: caption.start, end: caption.end } }),
      ...(figure.alternative === undefined ? {} : { alternative: figure.alternative }),
      ...(figure.rows === undefined ? {} : { rows: figure.rows }),
      mentions: []
    })
  })
  return { ...TEXT_ONLY, ...parsed, blocks, figures: withMentions(text, blocks, figures), pictures }
}
