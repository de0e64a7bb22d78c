/** Blocks, figures and tables as parsers write them, before captions, images and mentions are added. */
import type { Block, Span } from "../../document/Document.ts"

/** Characters: a longer list becomes one block for each item. */
export const MAX_LIST_LENGTH = 800

/** A picture in a document. */
export interface PictureDraft {
  /** A data URI, a path, or the format's own reference. Empty if there is no image. */
  readonly reference: string
  /** Alternative text; empty if there is none. */
  readonly alternative: string
  /** The text if there is nothing else: a file name, or "Picture 3". */
  readonly name: string
  /** Text in the picture, where the document has it. */
  readonly inside?: string | undefined
}

/** A figure or table without its text. */
export interface FigureContent {
  readonly caption?: Span | undefined
  readonly alternative?: string | undefined
  readonly rows?: ReadonlyArray<ReadonlyArray<string>> | undefined
  readonly pictures: ReadonlyArray<PictureDraft>
}

export interface DraftBlock extends Block {
  readonly figure?: FigureContent | undefined
  /** Whether the document marks this paragraph as a caption. */
  readonly caption?: true | undefined
}

/** The first heading of the highest level; empty if there is none. */
export const topHeading = (blocks: ReadonlyArray<Block>): string =>
  blocks
    .filter(({ heading, kind }) => kind === "heading" && heading !== "")
    .toSorted((a, b) => a.level! - b.level!)[0]?.heading ?? ""

/** Whether the contents of a `<figure>` are one figure. Code, sections and several tables are not. */
export const isSingleFigure = (
  parts: ReadonlyArray<DraftBlock>,
  pictures: ReadonlyArray<PictureDraft>
): boolean => {
  const tables = parts.filter(({ figure }) => figure !== undefined).length
  const other = parts.some(({ kind }) => kind === "heading" || kind === "code")
  return !other && tables <= 1 && tables + pictures.length > 0
}

/** The text of pictures: what `beside`, the text beside them, does not say already, or else the name of the first. */
export const textOfPictures = (pictures: ReadonlyArray<PictureDraft>, beside: string): string => {
  const texts = pictures
    .flatMap(({ alternative, inside = "" }) => [alternative.trim(), inside.trim()])
    .filter((text) => text !== "" && !beside.includes(text))
  if (texts.length > 0) return [...new Set(texts)].join("\n")
  return beside === "" ? (pictures[0]?.name.trim() ?? "") : ""
}

/** The block of a figure. Its `parts` are a caption and a table, both optional. */
export const toFigureBlock = (
  parts: ReadonlyArray<DraftBlock>,
  pictures: ReadonlyArray<PictureDraft>,
  { end, start }: Span
): DraftBlock => {
  const table = parts.find(({ figure }) => figure !== undefined)?.figure
  const caption = parts.find((part) => part.caption)
  return {
    kind: pictures.length > 0 ? "figure" : "table",
    start,
    end,
    figure: {
      caption: caption === undefined ? table?.caption : { start: caption.start, end: caption.end },
      alternative: pictures[0]?.alternative || undefined,
      rows: table?.rows,
      pictures
    }
  }
}
