/** Writes the visible text of a page and remembers where its blocks are. */
import type { Block } from "../Document.ts"
import { LIST_WHOLE } from "./Markdown.ts"

interface List {
  readonly kind: "ul" | "ol" | "menu" | "dl"
  count: number
}

/** Lists and tables whose cells hold headings or other tables only lay a page out: their content is plain blocks. */
type Container = { readonly type: "list" | "table"; layout: boolean }

/**
 * A sink for what a page shows. Text comes in by `write`; the other methods tell what element it stands in. Blocks are
 * parted by a blank line; within lists and tables each item and row is one line.
 */
export class HtmlText {
  #text = ""
  readonly #blocks: Array<Block> = []
  /** Finished lines of the block being written, never looked at again, and the line being written. */
  #lines = ""
  #current = ""
  /** Where items of the list being written start in `#lines`. */
  #items: Array<number> = []
  readonly #lists: Array<List> = []
  readonly #containers: Array<Container> = []
  #heading: number | undefined
  #pre = 0
  #space = false
  #cells = 0

  write(raw: string): void {
    const text = raw.includes("\u00AD") || raw.includes("\u200B") ? raw.replace(/[\u00AD\u200B]/g, "") : raw
    if (this.#pre > 0) {
      this.#current += text
      return
    }
    const words = text.replace(/\s+/g, " ")
    if (words === " " || words === "") {
      this.#space ||= words === " "
      return
    }
    const wanted = this.#space || words.startsWith(" ")
    if (wanted && this.#current !== "" && !this.#current.endsWith(" ")) this.#current += " "
    this.#current += words.trim()
    this.#space = words.endsWith(" ")
  }

  newLine(): void {
    if (this.#pre > 0) this.#current += "\n"
    else if (this.#container("table")) this.#space = true
    else this.#endLine()
  }

  /** The end of a paragraph; within a list or table only the end of a line or a blank. */
  breakBlock(): void {
    if (this.#pre > 0) return
    if (this.#container("table")) this.#space = true
    else if (!this.#container("list")) this.#flush("paragraph")
    else if (!/^\s*(?:-|\d+\.)?\s*$/.test(this.#current)) {
      this.#endLine()
      this.#current = "  ".repeat(this.#lists.length)
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
    if (this.#container("table")) this.#space = true
    else if (!this.#inside()) this.#flush("paragraph")
    this.#lists.push({ kind, count: 0 })
    this.#containers.push({ type: "list", layout: this.#containers.at(-1)?.layout ?? false })
  }

  closeList(): void {
    this.#lists.pop()
    this.#close("list")
  }

  openItem(name: "li" | "dt" | "dd"): void {
    const list = this.#lists.at(-1)
    if (list === undefined || !this.#inside()) {
      this.#flush("paragraph")
      return
    }
    if (this.#container("table")) {
      this.#space = true
      return
    }
    list.count++
    this.#endLine()
    if (this.#lists.length === 1 && name !== "dd") this.#items.push(this.#lines.length)
    this.#current += "  ".repeat(this.#lists.length - 1)
    this.#current += name === "dt" ? "" : name === "dd" ? "  " : list.kind === "ol" ? `${list.count}. ` : "- "
    this.#space = false
  }

  openTable(): void {
    // A table within a table: the outer one lays out the page
    if (this.#containers.some(({ type }) => type === "table")) this.#dissolve()
    if (!this.#inside()) this.#flush("paragraph")
    this.#containers.push({ type: "table", layout: false })
    this.#cells = 0
  }

  closeTable(): void {
    this.#close("table")
  }

  openRow(): void {
    if (!this.#container("table")) {
      this.breakBlock()
      return
    }
    this.#endLine()
    this.#cells = 0
  }

  openCell(): void {
    if (!this.#container("table")) {
      this.breakBlock()
      return
    }
    if (this.#cells++ > 0) this.#current = `${this.#current.trimEnd()} | `
    this.#space = false
  }

  finish(): { readonly text: string; readonly blocks: ReadonlyArray<Block> } {
    this.#flush("paragraph")
    return { text: this.#text, blocks: this.#blocks }
  }

  /** Whether text now goes into a list or table. */
  #inside(): boolean {
    const last = this.#containers.at(-1)
    return last !== undefined && !last.layout
  }

  #container(type: Container["type"]): boolean {
    const last = this.#containers.at(-1)
    if (type === "list") return last?.type === "list" && !last.layout
    // A list in a cell still writes into the table's row
    return this.#containers.some((container) => container.type === "table" && !container.layout)
  }

  #endLine(): void {
    const line = this.#current.trimEnd()
    if (line !== "") this.#lines += `${line}\n`
    this.#current = ""
    this.#space = false
  }

  /** All open lists and tables turn out to lay out the page. */
  #dissolve(): void {
    if (!this.#containers.some(({ layout }) => !layout)) return
    this.#flush(this.#containers[0]!.type)
    for (const container of this.#containers) container.layout = true
  }

  #close(type: Container["type"]): void {
    const at = this.#containers.findLastIndex((container) => container.type === type)
    if (at === -1) return
    const [container] = this.#containers.splice(at)
    if (this.#container("table")) this.#space = true
    else if (!this.#inside()) this.#flush(container!.layout ? "paragraph" : type)
  }

  #flush(kind: Block["kind"], level?: number): void {
    const items = this.#items
    const written = this.#lines + this.#current
    this.#lines = ""
    this.#current = ""
    this.#items = []
    this.#space = false
    const body = kind === "code" ? written.replace(/^(?:[^\S\n]*\n)+/, "").trimEnd() : written.trim()
    if (body === "") return
    const gap = this.#text === "" ? "" : "\n\n"
    const start = this.#text.length + gap.length
    this.#text += gap + body
    const end = this.#text.length
    if (kind === "heading") {
      this.#blocks.push({ kind, start, end, level: level!, heading: body.replace(/\s+/g, " ") })
    } else if (kind === "list" && body.length > LIST_WHOLE && items.length > 1) {
      const lead = written.length - written.trimStart().length
      const cuts = items.slice(1).map((at) => start + at - lead)
      const starts = [start, ...cuts]
      starts.forEach((from, i) => {
        const to = starts[i + 1] === undefined ? end : starts[i + 1]! - 1
        if (to > from) this.#blocks.push({ kind, start: from, end: to })
      })
    } else {
      this.#blocks.push({ kind, start, end })
    }
  }
}
