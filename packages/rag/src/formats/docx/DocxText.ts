/** Writes the paragraphs and tables of a Word document as text and blocks. */
import { labelOf } from "../parsing/Label.ts"
import type { DraftBlock, PictureDraft } from "../parsing/DraftBlock.ts"
import { BlockWriter } from "../parsing/BlockWriter.ts"
import type { CellSpan } from "../parsing/TableGrid.ts"
import type { Numbering } from "./Numbering.ts"
import type { Style } from "./Styles.ts"

/** A paragraph without its format. */
export interface DocxParagraph {
  text: string
  style: Style | undefined
  /** Outline level that overrides the style's: 0 to 8, 9 for none. */
  outline?: number
  list?: { id?: string; level?: number }
  /** Whether it has a SEQ field, which numbers figures and tables. */
  sequence: boolean
  readonly pictures: Array<PictureDraft>
}

/** Characters: longer paragraphs are not headings, even with the style of one. */
const MAX_HEADING = 300
const MAX_LEVEL = 6

interface ListLabel {
  /** Undefined for a bullet. */
  readonly text: string | undefined
  readonly level: number
}

/** Takes paragraphs and tables in the order of the document. */
export class DocxText {
  readonly #out = new BlockWriter()
  readonly #numbering: Numbering
  #tables = 0
  /** Open lists outside of tables. */
  #lists = 0
  title = ""

  constructor(numbering: Numbering) {
    this.#numbering = numbering
  }

  paragraph(paragraph: DocxParagraph): void {
    const { pictures, style } = paragraph
    const text = paragraph.text.trim()
    if (style?.role === "contents") return
    if (text !== "") {
      const outline = paragraph.outline ?? style?.outline
      const label = this.#label(paragraph)
      const own = label?.text === undefined ? text : `${label.text} ${text}`
      if (style?.role === "title" && this.title === "") this.title = text.replace(/\s+/g, " ")
      if (this.#tables > 0) this.#plain(label === undefined ? text : `${label.text ?? "-"} ${text}`)
      else if (
        text.length <= MAX_HEADING &&
        (style?.role === "title" || (outline !== undefined && outline < 9))
      ) {
        this.#heading(own, style?.role === "title" ? 1 : Math.min(MAX_LEVEL, outline! + 1))
      } else if (style?.role === "caption" || (paragraph.sequence && labelOf(text, true) !== undefined))
        this.#caption(text)
      else if (label !== undefined) this.#item(text, label)
      else this.#plain(text)
    }
    for (const picture of pictures) this.#out.picture(picture)
    if (pictures.length > 0 && this.#tables === 0) {
      this.#endLists(0)
      this.#out.breakBlock()
    }
  }

  openTable(): void {
    this.#endLists(0)
    this.#tables++
    this.#out.openTable()
  }

  openRow(): void {
    this.#out.openRow()
  }

  openCell(cell: CellSpan): void {
    this.#out.openCell(cell)
  }

  closeTable(): void {
    this.#tables--
    this.#out.closeTable()
  }

  finish(): { readonly text: string; readonly blocks: ReadonlyArray<DraftBlock> } {
    this.#endLists(0)
    return this.#out.finish()
  }

  /** The label of a list item; undefined for other paragraphs. */
  #label({ list, style }: DocxParagraph): ListLabel | undefined {
    const id = list?.id ?? style?.list?.id
    if (id === undefined || id === "0") return undefined
    const level = Math.min(8, Math.max(0, list?.level ?? style?.list?.level ?? style?.outline ?? 0))
    return { text: this.#numbering.next(id, level), level }
  }

  #write(text: string): void {
    text.split("\n").forEach((line, at) => {
      if (at > 0) this.#out.newLine()
      this.#out.write(line)
    })
  }

  #heading(text: string, level: number): void {
    this.#endLists(0)
    this.#out.openHeading(level)
    this.#out.write(text)
    this.#out.closeHeading()
  }

  #caption(text: string): void {
    this.#endLists(0)
    this.#out.openCaption()
    this.#out.write(text)
    this.#out.closeCaption()
  }

  #plain(text: string): void {
    if (this.#tables === 0) this.#endLists(0)
    this.#out.breakBlock()
    this.#write(text)
    this.#out.breakBlock()
  }

  #item(text: string, label: ListLabel): void {
    this.#endLists(label.level + 1)
    for (; this.#lists <= label.level; this.#lists++) this.#out.openList("ul")
    this.#out.openItem("li", label.text)
    this.#write(text)
  }

  #endLists(left: number): void {
    for (; this.#lists > left; this.#lists--) this.#out.closeList()
  }
}
