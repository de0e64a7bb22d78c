/** Writes the visible text of a page and remembers where its blocks are. */
import type { Block, Span } from "../../document/Document.ts"
import {
  type DraftBlock,
  figureBlock,
  isOneFigure,
  MAX_LIST_LENGTH,
  type PictureDraft,
  wordsOf
} from "./FigureDraft.ts"
import { type CellSpan, TableGrid } from "./TableGrid.ts"

interface List {
  readonly kind: "ul" | "ol" | "menu" | "dl"
  count: number
}

/** Lists and tables whose cells hold headings or other tables only lay a page out: their content is plain blocks. */
type Container = { readonly type: "list" | "table"; layout: boolean }

/** A `<figure>`: what stands in it is one figure, unless it holds other things than pictures, a table and a caption. */
interface Group {
  readonly from: number
  readonly pictures: Array<PictureDraft>
  /** What was written in it. */
  own: string
  depth: number
}

/** A longer line is more than its bullet or number. */
const LABEL_AT_MOST = 40

/** Lists within lists are indented so far at most. */
const DEEPEST = 8

/**
 * A sink for what a page shows. Text comes in by `write`; the other methods tell what element it stands in. Blocks are
 * parted by a blank line; within lists and tables each item and row is one line. A picture is a block of its own after
 * the block that it stands in.
 */
export class HtmlText {
  #text = ""
  readonly #blocks: Array<DraftBlock> = []
  /** Finished lines of the block being written, and finished cells of its row: both only grow. */
  #lines = ""
  #row = ""
  /** The line or cell being written, and whether a word may follow it directly. */
  #current = ""
  #blank = true
  /** Where items of the list being written start in `#lines`. */
  #items: Array<number> = []
  readonly #lists: Array<List> = []
  readonly #containers: Array<Container> = []
  /** Of `#containers`: tables; tables that are no layout; all that are no layout. */
  readonly #open = { tables: 0, realTables: 0, real: 0 }
  #heading: number | undefined
  #pre = 0
  #space = false
  #cells = 0
  #grid: TableGrid | undefined
  /** Where the cell being written starts in `#current`. */
  #cellAt: number | undefined
  /** The table's caption, in `#lines`. */
  #caption: Span | undefined
  #captionAt: number | undefined
  #pending: Array<PictureDraft> = []
  #group: Group | undefined

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
    const wanted = this.#space || words.startsWith(" ")
    this.#put(`${wanted && !this.#blank ? " " : ""}${words.trim()}`, false)
    this.#space = words.endsWith(" ")
  }

  newLine(): void {
    if (this.#pre > 0) this.#put("\n", true)
    else if (this.#open.realTables > 0) this.#space = true
    else this.#endLine()
  }

  /** The end of a paragraph; within a list or table only the end of a line or a blank. */
  breakBlock(): void {
    if (this.#pre > 0) return
    if (this.#open.realTables > 0) this.#space = true
    else if (!this.#inside()) this.#flush("paragraph")
    else if (this.#current.length > LABEL_AT_MOST || !/^\s*(?:-|\d+\.)?\s*$/.test(this.#current)) {
      this.#endLine()
      this.#put(this.#indentation(this.#lists.length), true)
    }
  }

  openHeading(level: number): void {
    this.#dissolve()
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
    if (this.#open.realTables > 0) this.#space = true
    else if (!this.#inside()) this.#flush("paragraph")
    this.#lists.push({ kind, count: 0 })
    this.#push("list", this.#containers.at(-1)?.layout ?? false)
  }

  closeList(): void {
    this.#lists.pop()
    this.#close("list")
  }

  /** `label` stands for the item's own bullet or number. */
  openItem(name: "li" | "dt" | "dd", label?: string): void {
    const list = this.#lists.at(-1)
    if (list === undefined || !this.#inside()) {
      this.#flush("paragraph")
      return
    }
    if (this.#open.realTables > 0) {
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
    // A table within a table: the outer one lays out the page
    if (this.#open.tables > 0) this.#dissolve()
    const own = !this.#inside()
    if (own) this.#flush("paragraph")
    this.#push("table", false)
    this.#cells = 0
    this.#grid = own ? new TableGrid() : undefined
  }

  closeTable(): void {
    this.#endRow()
    this.#close("table")
  }

  openRow(): void {
    if (this.#open.realTables === 0) {
      this.breakBlock()
      return
    }
    this.#endRow()
    this.#endLine()
    this.#cells = 0
    this.#grid?.openRow()
  }

  openCell(cell: CellSpan = {}): void {
    if (this.#open.realTables === 0) {
      this.breakBlock()
      return
    }
    this.#endCell()
    for (const text of this.#grid?.openCell(cell) ?? []) this.#writeCell(text)
    this.#writeCell("")
    this.#cellAt = this.#current.length
  }

  /** The caption of a table or figure; elsewhere a paragraph. */
  openCaption(): void {
    if (this.#open.realTables === 0) this.breakBlock()
    else {
      this.#endRow()
      this.#endLine()
      this.#captionAt = this.#lines.length
    }
  }

  closeCaption(): void {
    if (this.#open.realTables === 0) {
      if (this.#inside()) this.breakBlock()
      else this.#flush("paragraph", undefined, true)
    } else if (this.#captionAt !== undefined) {
      this.#endLine()
      this.#caption = { start: this.#captionAt, end: this.#lines.length }
    }
    this.#captionAt = undefined
  }

  openFigure(): void {
    if (this.#group !== undefined) this.#group.depth++
    else if (!this.#inside()) {
      this.#flush("paragraph")
      this.#group = { from: this.#blocks.length, pictures: [], own: "", depth: 1 }
    } else this.breakBlock()
  }

  closeFigure(): void {
    const group = this.#group
    if (group === undefined || --group.depth > 0 || this.#inside()) {
      this.breakBlock()
      return
    }
    this.#flush("paragraph")
    this.#group = undefined
    this.#join(group)
  }

  picture(picture: PictureDraft): void {
    if (this.#group === undefined) this.#pending.push(picture)
    else this.#group.pictures.push(picture)
  }

  finish(): { readonly text: string; readonly blocks: ReadonlyArray<DraftBlock> } {
    if (this.#group !== undefined) {
      this.#pending.push(...this.#group.pictures)
      this.#group = undefined
    }
    this.#endRow()
    this.#flush("paragraph")
    return { text: this.#text, blocks: this.#blocks }
  }

  /** Whether text now goes into a list or table. */
  #inside(): boolean {
    const last = this.#containers.at(-1)
    return last !== undefined && !last.layout
  }

  #push(type: Container["type"], layout: boolean): void {
    this.#containers.push({ type, layout })
    if (type === "table") this.#open.tables++
    if (type === "table" && !layout) this.#open.realTables++
    if (!layout) this.#open.real++
  }

  #indentation(lists: number): string {
    return "  ".repeat(Math.min(DEEPEST, lists))
  }

  /** Adds to the line being written; `blank` says whether a word may follow directly. */
  #put(text: string, blank: boolean): void {
    this.#current += text
    this.#blank = blank
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
    this.#row = ""
    this.#current = ""
    this.#blank = true
    this.#cellAt = undefined
    this.#space = false
  }

  /** All open lists and tables turn out to lay out the page. */
  #dissolve(): void {
    if (this.#open.real === 0) return
    this.#grid = undefined
    this.#flush(this.#containers[0]!.type)
    for (const container of this.#containers) container.layout = true
    this.#open.real = 0
    this.#open.realTables = 0
  }

  #close(type: Container["type"]): void {
    const at = this.#containers.findLastIndex((container) => container.type === type)
    if (at === -1) return
    const closed = this.#containers.splice(at)
    for (const container of closed) {
      if (container.type === "table") this.#open.tables--
      if (container.type === "table" && !container.layout) this.#open.realTables--
      if (!container.layout) this.#open.real--
    }
    if (this.#open.realTables > 0) this.#space = true
    else if (!this.#inside()) this.#flush(closed[0]!.layout ? "paragraph" : type)
    if (type === "table") this.#grid = undefined
  }

  /** A figure is one block of what stood in it. */
  #join({ from, own, pictures }: Group): void {
    const parts = this.#blocks.slice(from)
    if (!isOneFigure(parts, pictures)) {
      for (const picture of pictures) this.#writePicture(picture)
      return
    }
    const words = wordsOf(pictures, own)
    if (words !== "") this.#append(words, own === "" ? "\n\n" : "\n")
    else if (own === "") return
    const start = parts[0]?.start ?? this.#text.length - words.length
    this.#blocks.splice(from, parts.length, figureBlock(parts, pictures, start, this.#text.length))
  }

  #writePicture(picture: PictureDraft): void {
    const words = wordsOf([picture], "")
    if (words === "") return
    this.#append(words, "\n\n")
    const end = this.#text.length
    this.#blocks.push(figureBlock([], [picture], end - words.length, end))
  }

  #append(words: string, gap: string): void {
    this.#text += (this.#text === "" ? "" : gap) + words
    if (this.#group !== undefined) this.#group.own += `\n${words}`
  }

  #flush(kind: Block["kind"], level?: number, caption?: true): void {
    this.#writeBlock(kind, level, caption)
    if (this.#pending.length === 0) return
    const pictures = this.#pending
    this.#pending = []
    for (const picture of pictures) this.#writePicture(picture)
  }

  #writeBlock(kind: Block["kind"], level: number | undefined, caption: true | undefined): void {
    const items = this.#items
    const written = this.#lines + this.#row + this.#current
    const inTable = this.#caption
    this.#lines = ""
    this.#row = ""
    this.#current = ""
    this.#blank = true
    this.#items = []
    this.#space = false
    this.#cellAt = undefined
    this.#caption = undefined
    const body = kind === "code" ? written.replace(/^(?:[^\S\n]*\n)+/, "").trimEnd() : written.trim()
    if (body === "") return
    this.#append(body, "\n\n")
    const end = this.#text.length
    const start = end - body.length
    const lead = written.length - written.trimStart().length
    if (kind === "heading") {
      this.#blocks.push({ kind, start, end, level: level!, heading: body.replace(/\s+/g, " ") })
    } else if (kind === "list" && body.length > MAX_LIST_LENGTH && items.length > 1) {
      const cuts = items.slice(1).map((at) => start + at - lead)
      const starts = [start, ...cuts]
      starts.forEach((from, i) => {
        const to = starts[i + 1] === undefined ? end : starts[i + 1]! - 1
        if (to > from) this.#blocks.push({ kind, start: from, end: to })
      })
    } else {
      const rows = kind === "table" ? this.#grid?.rows() : undefined
      const named = inTable && { start: start + inTable.start - lead, end: start + inTable.end - lead - 1 }
      const figure = kind === "table" ? { caption: named, rows, pictures: [] } : undefined
      this.#blocks.push({ kind, start, end, ...(figure && { figure }), ...(caption && { caption }) })
    }
  }
}
