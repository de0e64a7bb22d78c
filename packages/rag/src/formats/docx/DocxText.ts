/** Writes the paragraphs and tables of a Word document as text and blocks. */
import { labelOf } from "../parsing/Label.ts"
import type { PictureDraft } from "../parsing/DraftBlock.ts"
import { BlockWriter } from "../parsing/BlockWriter.ts"
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
/** Characters: contracts number their clauses with the styles of headings. A sentence of this length is one. */
const MIN_CLAUSE = 40

const isHeading = (text: string): boolean =>
  text.length < MIN_CLAUSE || (text.length <= MAX_HEADING && !/[.,;。，；]$/.test(text))

/** `text` is undefined for a bullet. */
type ListLabel = { readonly text: string | undefined; readonly level: number }

/** Takes paragraphs and tables in the order of the document. */
export class DocxText extends BlockWriter {
  readonly #numbering: Numbering
  #tables = 0
  /** Open lists outside of tables. */
  #lists = 0
  title = ""

  constructor(numbering: Numbering) {
    super()
    this.#numbering = numbering
  }

  paragraph(paragraph: DocxParagraph): void {
    const { pictures, style } = paragraph
    const text = paragraph.text.trim()
    if (style?.role === "contents") return
    if (text !== "") {
      const outline = paragraph.outline ?? style?.outline ?? 9
      const isTitle = style?.role === "title"
      const label = this.#label(paragraph)
      const own = label?.text === undefined ? text : `${label.text} ${text}`
      if (isTitle && this.title === "") this.title = text.replace(/\s+/g, " ")
      if (this.#tables > 0) this.#plain(label === undefined ? text : `${label.text ?? "-"} ${text}`)
      else if ((isTitle || outline < 9) && isHeading(text)) {
        this.#heading(own, isTitle ? 1 : Math.min(MAX_LEVEL, outline + 1))
      } else if (style?.role === "caption" || (paragraph.sequence && labelOf(text, true) !== undefined))
        this.#caption(text)
      else if (label !== undefined) this.#item(text, label)
      else this.#plain(text)
    }
    for (const picture of pictures) this.picture(picture)
    if (pictures.length > 0 && this.#tables === 0) {
      this.#endLists(0)
      this.breakBlock()
    }
  }

  override openTable(): void {
    this.#endLists(0)
    this.#tables++
    super.openTable()
  }

  override closeTable(): void {
    this.#tables--
    super.closeTable()
  }

  override finish(): ReturnType<BlockWriter["finish"]> {
    this.#endLists(0)
    return super.finish()
  }

  /** The label of a list item; undefined for other paragraphs. */
  #label({ list, style }: DocxParagraph): ListLabel | undefined {
    const id = list?.id ?? style?.list?.id
    if (id === undefined || id === "0") return undefined
    const level = Math.min(8, Math.max(0, list?.level ?? style?.list?.level ?? style?.outline ?? 0))
    return { text: this.#numbering.next(id, level), level }
  }

  #heading(text: string, level: number): void {
    this.#endLists(0)
    this.openHeading(level)
    this.write(text)
    this.closeHeading()
  }

  #caption(text: string): void {
    this.#endLists(0)
    this.openCaption()
    this.write(text)
    this.closeCaption()
  }

  #plain(text: string): void {
    if (this.#tables === 0) this.#endLists(0)
    this.breakBlock()
    this.writeLines(text)
    this.breakBlock()
  }

  #item(text: string, label: ListLabel): void {
    this.#endLists(label.level + 1)
    for (; this.#lists <= label.level; this.#lists++) this.openList("ul")
    this.openItem("li", label.text)
    this.writeLines(text)
  }

  #endLists(left: number): void {
    for (; this.#lists > left; this.#lists--) this.closeList()
  }
}
