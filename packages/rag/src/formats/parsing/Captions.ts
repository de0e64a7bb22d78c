/** Captions to the figures and tables that they stand beside. */
import type { Block, Figure, Parsed, Span } from "../../document/Document.ts"
import { labelOf, type Label } from "./Label.ts"
import { withMentions } from "./Mentions.ts"
import type { DraftBlock, FigureContent } from "./FigureDraft.ts"

/** A picture of a document: which of its figures shows it, and where its bytes are. */
export interface ShownPicture {
  readonly figure: number
  readonly reference: string
}

/** A document as it was read, without the bytes of its pictures. */
export interface Unillustrated extends Parsed {
  readonly pictures: ReadonlyArray<ShownPicture>
}

type Side = -1 | 1

/** The label of a paragraph that is a caption. Those that a document calls captions need no label. */
const captionOf = (text: string, block: DraftBlock | undefined): Partial<Label> | undefined => {
  if (block?.kind !== "paragraph") return undefined
  return labelOf(text.slice(block.start, block.end), block.caption) ?? (block.caption ? {} : undefined)
}

/** For each figure without a caption of its own, the side on which its caption stands. */
const sidesOf = (text: string, blocks: ReadonlyArray<DraftBlock>): ReadonlyMap<number, Side> => {
  const captions = new Map<number, Partial<Label> | undefined>()
  const wanting = blocks.flatMap(({ figure }, at) =>
    figure !== undefined && figure.caption === undefined ? [at] : []
  )
  const taken = new Set<number>()
  const sides = new Map<number, Side>()
  const fits = (at: number, side: Side, anyKind: boolean): boolean => {
    const beside = at + side
    if (!captions.has(beside)) captions.set(beside, captionOf(text, blocks[beside]))
    const caption = captions.get(beside)
    if (caption === undefined || taken.has(at + side)) return false
    return anyKind || caption.kind === undefined || caption.kind === blocks[at]!.kind
  }
  // On which side captions stand is a habit of the document; without one, above tables and below pictures
  const habit = (kind: Block["kind"]): Side => {
    let below = 0
    for (const at of wanting) {
      if (blocks[at]!.kind !== kind) continue
      below += Number(fits(at, 1, false)) - Number(fits(at, -1, false))
    }
    return below > 0 ? 1 : below < 0 ? -1 : kind === "table" ? -1 : 1
  }
  const habits = new Map(
    [habit("table"), habit("figure")].map((side, i) => [i === 0 ? "table" : "figure", side])
  )
  for (const anyKind of [false, true]) {
    for (const at of wanting) {
      if (sides.has(at)) continue
      const first = habits.get(blocks[at]!.kind)!
      const side = ([first, -first] as ReadonlyArray<Side>).find((side) => fits(at, side, anyKind))
      if (side === undefined) continue
      sides.set(at, side)
      taken.add(at + side)
    }
  }
  return sides
}

/** The whole of a caption, or the first line of what stands for a picture, when it begins as a caption does. */
const ownCaption = (text: string, { figure, start, end }: DraftBlock): Span | undefined => {
  if (figure?.caption !== undefined || figure?.alternative === undefined) return figure?.caption
  const line = text.slice(start, end).split("\n", 1)[0]!
  return labelOf(line) === undefined ? undefined : { start, end: start + line.length }
}

/** A table of one row or column without a caption: it lays something out. */
const saysNothing = ({ alternative, caption, pictures, rows }: FigureContent): boolean =>
  caption === undefined && alternative === undefined && rows === undefined && pictures.length === 0

/**
 * Figures with their captions, numbers and mentions; a figure and its caption are one block.
 *
 * **Details.** `pictures` are those of the figures, in their order.
 */
export const withFigures = (
  parsed: Omit<Parsed, "blocks" | "figures">,
  drafts: ReadonlyArray<DraftBlock>
): Unillustrated => {
  const { text } = parsed
  const sides = sidesOf(text, drafts)
  const absorbed = new Set([...sides].map(([at, side]) => at + side))
  const blocks: Array<Block> = []
  const figures: Array<Figure> = []
  const pictures: Array<ShownPicture> = []
  drafts.forEach((draft, at) => {
    const { caption: _, figure, ...block } = draft
    if (absorbed.has(at)) return
    const side = sides.get(at)
    if (figure === undefined || (side === undefined && saysNothing(figure))) {
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
  return { ...parsed, blocks, figures: withMentions(text, blocks, figures), pictures }
}
