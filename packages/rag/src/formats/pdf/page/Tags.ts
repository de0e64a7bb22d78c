/** What a tagged PDF says that stands on a page. Its parts have numbers, which the text of the page bears. */

/** A cell; an empty one has no part. */
export interface CellTag {
  readonly part: number | undefined
  /** How many columns and rows it spans. */
  readonly columns: number
  readonly rows: number
}

export interface TableTag {
  readonly caption: number | undefined
  readonly rows: ReadonlyArray<ReadonlyArray<CellTag>>
  /** It arranges other things: there are headings or tables in its cells. */
  readonly arranges: boolean
}

export interface FigureTag {
  readonly part: number
  readonly caption: number | undefined
  /** What stands for the picture; empty where nothing does. */
  readonly alternative: string
  /** Which figure it is a part of, by its place in the list. */
  readonly outer: number | undefined
  /** There is a table in it. */
  readonly holdsTable: boolean
}

/** In the order of the structure; what holds something stands before it. */
export interface Tags {
  readonly tables: ReadonlyArray<TableTag>
  readonly figures: ReadonlyArray<FigureTag>
}
