/** Figures and tables as a parser meets them, before they have their captions, their bytes and their mentions. */
import type { Block, Span } from "../../document/Document.ts"

/** Characters: a longer list becomes one block for each item. */
export const MAX_LIST_LENGTH = 800

/** A picture that a document shows. */
export interface PictureDraft {
  /** Where its bytes are: a data URI, a path, or what the format calls it. Empty where there are none to be had. */
  readonly reference: string
  /** What the document says in place of the picture; empty where it says nothing. */
  readonly alternative: string
  /** What names it where nothing else does: a file's name, or "Picture 3". */
  readonly name: string
  /** What is written in it, where the document says so. */
  readonly inside?: string | undefined
}

/** What a figure or table is besides its text. */
export interface FigureContent {
  readonly caption?: Span | undefined
  readonly alternative?: string | undefined
  readonly rows?: ReadonlyArray<ReadonlyArray<string>> | undefined
  readonly pictures: ReadonlyArray<PictureDraft>
}

/** A block of which more is known than its kind. */
export interface DraftBlock extends Block {
  readonly figure?: FigureContent | undefined
  /** The document itself says that this paragraph is a caption. */
  readonly caption?: true | undefined
}

/** Whether blocks and pictures that stand in one `<figure>` are one figure: code, sections and several tables are not. */
export const isOneFigure = (
  parts: ReadonlyArray<DraftBlock>,
  pictures: ReadonlyArray<PictureDraft>
): boolean => {
  const tables = parts.filter(({ figure }) => figure !== undefined).length
  const other = parts.some(({ kind }) => kind === "heading" || kind === "code")
  return !other && tables <= 1 && tables + pictures.length > 0
}

/** What stands for pictures in the text: what `own`, the text beside them, does not say already; else their name. */
export const wordsOf = (pictures: ReadonlyArray<PictureDraft>, own: string): string => {
  const said = pictures
    .flatMap(({ alternative, inside = "" }) => [alternative.trim(), inside.trim()])
    .filter((words) => words !== "" && !own.includes(words))
  if (said.length > 0) return [...new Set(said)].join("\n")
  return own === "" ? (pictures[0]?.name.trim() ?? "") : ""
}

/** One block for a figure: its parts, which are a caption, a table or nothing, and its pictures. */
export const figureBlock = (
  parts: ReadonlyArray<DraftBlock>,
  pictures: ReadonlyArray<PictureDraft>,
  start: number,
  end: number
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
