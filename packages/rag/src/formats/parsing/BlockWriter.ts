/** Writes the text and blocks of a document from the events of its elements. Used for HTML and Word. */
import type { Block, Span } from "../../document/Document.ts"
import {
  type DraftBlock,
  toFigureBlock,
  isSingleFigure,
  MAX_LIST_LENGTH,
  type PictureDraft,
  textOfPictures
} from "./DraftBlock.ts"
import { type CellSpan, TableGrid } from "./TableGrid.ts"

interface List {
  readonly kind: "ul" | "ol" | "menu" | "dl"
  count: number
}

/**
 * An open list or table. If headings or other tables are in it, it is a layout, and its contents are plain blocks; so are all
 * containers around it. `inTable`: it is a table or in one that is not a layout.
 */
type Container = { readonly type: "list" | "table"; isLayout: boolean; inTable: boolean }

/** An open `<figure>`. It becomes one figure if it contains only pictures, a table and a caption. */
interface OpenFigure {
  /** Index of its first block. */
  readonly from: number
  readonly pictures: Array<PictureDraft>
  text: string
  depth: number
}

/** Characters: longer lines have text after their bullet or number. */
const MAX_LABEL = 40

/** Levels by which nested lists are indented. */
const MAX_INDENTATION = 8

/**
 * Takes text by `write`, and the elements around it by the other methods. Blocks are separated by a blank line. Within lists
 * and tables each item and row is a line. A picture becomes a block after the block that contains it.
 */
export class BlockWriter {
  #text = ""
  readonly #blocks: Array<DraftBlock> = []
  /** Finished lines of the current block, and finished cells of the current row. */
  #lines = ""
  #row = ""
  /** The current line or cell, and whether it ends with a space. */
  #current = ""
  #endsBlank = true
  /** Offsets of the current list's items in `#lines`. */
  #items: Array<number> = []
  readonly #lists: Array<List> = []
  readonly #containers: Array<Container> = []
  #heading: number | undefined
  #pre = 0
  /** Whether a space is due before the next word. */
  #space = false
  #cells = 0
  #grid: TableGrid | undefined
  /** Offset of the current cell in `#current`. */
  #cellAt: number | undefined
  /** The table's caption, in `#lines`. */
  #caption: Span | undefined
  #captionAt: number | undefined
  /** Pictures of the current block. */
  #pictures: Array<PictureDraft> = []
  #figure: OpenFigure | undefined

  write(raw: string): void {
    const text = raw.includes("\u00AD") || raw.includes("\u200B") ? raw.replace(/[\u00AD\u200B]/g, "") : raw
    if (this.#pre > 0) {
      this.#put(text, /\s$/.test(text))
      return
    }
    const words = text.replace(/\s+/g, " ")
    if (words === " " || words === "") {
      this.#space ||= words === " "
      return
    }
    const isSeparate = (this.#space || words.startsWith(" ")) && !this.#endsBlank
    this.#put(`${isSeparate ? " " : ""}${words.trim()}`, false)
    this.#space = words.endsWith(" ")
  }

  newLine(): void {
    if (this.#pre > 0) this.#put("\n", true)
    else if (this.#inTable) this.#space = true
    else this.#endLine()
  }

  /** Writes a text with its line breaks. */
  writeLines(text: string): void {
    for (const [at, line] of text.split("\n").entries()) {
      if (at > 0) this.newLine()
      this.write(line)
    }
  }

  /** Ends a paragraph; within a list or table only the line, or adds a space. */
  breakBlock(): void {
    if (this.#pre > 0) return
    if (this.#inTable) this.#space = true
    else if (!this.#inside()) this.#flush("paragraph")
    else if (this.#current.length > MAX_LABEL || !/^\s*(?:(?:-|\d+\.)\s*)?$/.test(this.#current)) {
      this.#endLine()
      this.#put(this.#indentation(this.#lists.length), true)
    }
  }

  openHeading(level: number): void {
    this.#markAsLayout()
    this.#flush("paragraph")
    this.#heading = level
  }

  closeHeading(): void {
    if (this.#heading !== undefined) this.#flush("heading", this.#heading)
    this.#heading = undefined
  }

  openPre(): void {
    if (this.#grid !== undefined) this.#grid.broken = true
    if (!this.#inside()) this.#flush("paragraph")
    else this.#endLine()
    this.#pre++
  }

  closePre(): void {
    this.#pre = Math.max(0, this.#pre - 1)
    if (this.#pre > 0) return
    if (this.#inside()) this.#endLine()
    else this.#flush("code")
  }

  openList(kind: List["kind"]): void {
    if (this.#inTable) this.#space = true
    else if (!this.#inside()) this.#flush("paragraph")
    this.#lists.push({ kind, count: 0 })
    const isLayout = this.#containers.at(-1)?.isLayout ?? false
    this.#containers.push({ type: "list", isLayout, inTable: this.#inTable })
  }

  closeList(): void {
    this.#lists.pop()
    this.#close("list")
  }

  /** `label` replaces the bullet or number. */
  openItem(name: "li" | "dt" | "dd", label?: string): void {
    const list = this.#lists.at(-1)
    if (list === undefined || !this.#inside()) {
      this.#flush("paragraph")
      return
    }
    if (this.#inTable) {
      this.#space = true
      return
    }
    list.count++
    this.#endLine()
    if (this.#lists.length === 1 && name !== "dd") this.#items.push(this.#lines.length)
    const bullet = label ?? (list.kind === "ol" ? `${list.count}.` : "-")
    const mark = name === "dt" ? "" : name === "dd" ? "  " : `${bullet} `
    this.#put(this.#indentation(this.#lists.length - 1) + mark, true)
    this.#space = false
  }

  openTable(): void {
    // The outer one of two tables is a layout
    if (this.#containers.some(({ type }) => type === "table")) this.#markAsLayout()
    const hasGrid = !this.#inside()
    if (hasGrid) this.#flush("paragraph")
    this.#containers.push({ type: "table", isLayout: false, inTable: true })
    this.#cells = 0
    this.#grid = hasGrid ? new TableGrid() : undefined
  }

  closeTable(): void {
    this.#endRow()
    this.#close("table")
  }

  openRow(): void {
    if (!this.#inTable) {
      this.breakBlock()
      return
    }
    this.#endRow()
    this.#endLine()
    this.#cells = 0
    this.#grid?.openRow()
  }

  openCell(cell: CellSpan = {}): void {
    if (!this.#inTable) {
      this.breakBlock()
      return
    }
    this.#endCell()
    for (const text of this.#grid?.openCell(cell) ?? []) this.#writeCell(text)
    this.#writeCell("")
    this.#cellAt = this.#current.length
  }

  /** The caption of a table or figure. Elsewhere it is a paragraph. */
  openCaption(): void {
    if (!this.#inTable) this.breakBlock()
    else {
      this.#endRow()
      this.#endLine()
      this.#captionAt = this.#lines.length
    }
  }

  closeCaption(): void {
    if (!this.#inTable) {
      if (this.#inside()) this.breakBlock()
      else this.#flush("paragraph", undefined, true)
    } else if (this.#captionAt !== undefined) {
      this.#endLine()
      this.#caption = { start: this.#captionAt, end: this.#lines.length }
    }
    this.#captionAt = undefined
  }

  openFigure(): void {
    if (this.#figure !== undefined) this.#figure.depth++
    else if (!this.#inside()) {
      this.#flush("paragraph")
      this.#figure = { from: this.#blocks.length, pictures: [], text: "", depth: 1 }
    } else this.breakBlock()
  }

  closeFigure(): void {
    const figure = this.#figure
    if (figure === undefined || --figure.depth > 0 || this.#inside()) {
      this.breakBlock()
      return
    }
    this.#flush("paragraph")
    this.#figure = undefined
    this.#writeFigure(figure)
  }

  picture(picture: PictureDraft): void {
    ;(this.#figure?.pictures ?? this.#pictures).push(picture)
  }

  finish(): { readonly text: string; readonly blocks: ReadonlyArray<DraftBlock> } {
    this.#pictures.push(...(this.#figure?.pictures ?? []))
    this.#figure = undefined
    this.#endRow()
    this.#flush("paragraph")
    return { text: this.#text, blocks: this.#blocks }
  }

  /** Whether the current text is in a list or table. */
  #inside(): boolean {
    const last = this.#containers.at(-1)
    return last !== undefined && !last.isLayout
  }

  /** Whether the current text is in a table that is not a layout. */
  get #inTable(): boolean {
    return this.#containers.at(-1)?.inTable ?? false
  }

  #indentation(lists: number): string {
    return "  ".repeat(Math.min(MAX_INDENTATION, lists))
  }

  #put(text: string, endsBlank: boolean): void {
    this.#current += text
    this.#endsBlank = endsBlank
  }

  #writeCell(text: string): void {
    if (this.#cells++ > 0) {
      this.#row += `${this.#current.trimEnd()} | `
      this.#current = ""
    }
    this.#put(text, text === "")
    this.#space = false
  }

  #endCell(): void {
    if (this.#cellAt === undefined) return
    const own = this.#current.slice(this.#cellAt).trim()
    const text = this.#grid?.closeCell(own) ?? own
    if (own === "") this.#put(text, text === "")
    this.#cellAt = undefined
  }

  #endRow(): void {
    if (this.#grid === undefined) return
    this.#endCell()
    for (const text of this.#grid.closeRow()) this.#writeCell(text)
  }

  #endLine(): void {
    const line = `${this.#row}${this.#current}`.trimEnd()
    if (line !== "") this.#lines += `${line}\n`
    this.#startLine()
  }

  #startLine(): void {
    this.#row = ""
    this.#current = ""
    this.#endsBlank = true
    this.#cellAt = undefined
    this.#space = false
  }

  /** Marks all open lists and tables as layouts. */
  #markAsLayout(): void {
    if (!this.#inside()) return
    this.#grid = undefined
    this.#flush(this.#containers[0]!.type)
    for (const container of this.#containers) Object.assign(container, { isLayout: true, inTable: false })
  }

  #close(type: Container["type"]): void {
    const at = this.#containers.findLastIndex((container) => container.type === type)
    if (at === -1) return
    const [closed] = this.#containers.splice(at)
    if (this.#inTable) this.#space = true
    else if (!this.#inside()) this.#flush(closed!.isLayout ? "paragraph" : type)
    if (type === "table") this.#grid = undefined
  }

  #writeFigure({ from, pictures, text }: OpenFigure): void {
    const parts = this.#blocks.slice(from)
    if (!isSingleFigure(parts, pictures)) {
      for (const picture of pictures) this.#writePicture(picture)
      return
    }
    const added = textOfPictures(pictures, text)
    if (added !== "") this.#append(added, text === "" ? "\n\n" : "\n")
    else if (text === "") return
    const start = parts[0]?.start ?? this.#text.length - added.length
    this.#blocks.splice(from, parts.length, toFigureBlock(parts, pictures, { start, end: this.#text.length }))
  }

  #writePicture(picture: PictureDraft): void {
    const text = textOfPictures([picture], "")
    if (text === "") return
    this.#append(text, "\n\n")
    const end = this.#text.length
    this.#blocks.push(toFigureBlock([], [picture], { start: end - text.length, end }))
  }

  #append(text: string, separator: string): void {
    this.#text += (this.#text === "" ? "" : separator) + text
    if (this.#figure !== undefined) this.#figure.text += `\n${text}`
  }

  /** Ends the current block, and writes its pictures. */
  #flush(kind: Block["kind"], level?: number, caption?: true): void {
    this.#writeBlock(kind, level, caption)
    for (const picture of this.#pictures.splice(0)) this.#writePicture(picture)
  }

  #writeBlock(kind: Block["kind"], level: number | undefined, caption: true | undefined): void {
    const items = this.#items
    const written = this.#lines + this.#row + this.#current
    const tableCaption = this.#caption
    this.#startLine()
    this.#lines = ""
    this.#items = []
    this.#caption = undefined
    const body = kind === "code" ? written.replace(/^(?:[^\S\n]*\n)+/, "").trimEnd() : written.trim()
    if (body === "") return
    this.#append(body, "\n\n")
    const end = this.#text.length
    const start = end - body.length
    /** From offsets in `#lines` to offsets in the text. */
    const shift = start - (written.length - written.trimStart().length)
    if (kind === "heading") {
      this.#blocks.push({ kind, start, end, level: level!, heading: body.replace(/\s+/g, " ") })
    } else if (kind === "list" && body.length > MAX_LIST_LENGTH && items.length > 1) {
      const starts = [start, ...items.slice(1).map((at) => at + shift), end + 1]
      for (const [i, from] of starts.slice(0, -1).entries()) {
        const to = starts[i + 1]! - 1
        if (to > from) this.#blocks.push({ kind, start: from, end: to })
      }
    } else {
      const rows = kind === "table" ? this.#grid?.rows() : undefined
      const own = tableCaption && { start: tableCaption.start + shift, end: tableCaption.end + shift - 1 }
      const figure = kind === "table" ? { caption: own, rows, pictures: [] } : undefined
      this.#blocks.push({ kind, start, end, ...(figure && { figure }), ...(caption && { caption }) })
    }
  }
}
