/** Reads the body of OpenDocument texts and presentations, one XML element at a time. */
import { type Attributes, readXml, type XmlHandler } from "../container/Xml.ts"
import type { ZipContainer } from "../container/ZipContainer.ts"
import type { BlockWriter } from "../parsing/BlockWriter.ts"
import type { PictureDraft } from "../parsing/DraftBlock.ts"
import { titleFromPath } from "../parsing/FileName.ts"
import { labelOf } from "../parsing/Label.ts"

/** Deleted text, comments, indexes, forms, readings of characters, and what each slide repeats. */
const SKIPPED = new Set(
  (
    "text:tracked-changes office:annotation text:table-of-content text:illustration-index text:table-index " +
    "text:alphabetical-index text:object-index text:user-index text:bibliography-source office:forms text:ruby-text " +
    "table:covered-table-cell text:sequence-decls text:variable-decls draw:a11y"
  ).split(" ")
)
const REPEATED = /^(?:page-number|footer|date-time|header)$/

interface Paragraph {
  text: string
  level: number | undefined
  /** Whether a number of figures or tables is in it. */
  sequence: boolean
  readonly pictures: Array<PictureDraft>
  /** Writes what is anchored in it: text boxes, tables, notes. */
  readonly after: Array<() => void>
}

interface Frame {
  alternative: string
  name: string
  reference: string
  isPreview: boolean
}

const numberAt = (value: string | undefined): number => Math.max(1, Number.parseInt(value ?? "", 10) || 1)

/** How a presentation is written: a text for each slide. */
export interface SlideHandler {
  readonly open: () => BlockWriter
  /** A hidden slide, which is not read. */
  readonly hidden: () => void
  readonly title: (text: string) => void
}

class OpenDocumentReader {
  #out: BlockWriter
  readonly #numbered: ReadonlySet<string>
  readonly #paragraphs: Array<Paragraph> = []
  readonly #frames: Array<Frame> = []
  /** Where `svg:title` and `svg:desc` are written. */
  inDescription = false
  inTitle = false
  inNotes = false
  #pictures = 0
  #mark: string | undefined
  /** Whether a list item is open that has no text yet. */
  #item = false
  /** The styles of open lists; empty for bullets. */
  readonly #styles: Array<string> = []
  /** The style of the list that has just ended. The next list continues it if it has the same: PowerPoint writes one for each item. */
  #ended: string | undefined

  constructor(out: BlockWriter, numbered: ReadonlySet<string>) {
    this.#out = out
    this.#numbered = numbered
  }

  use(out: BlockWriter): void {
    this.#endList()
    this.#out = out
    this.inNotes = false
  }

  get paragraph(): Paragraph | undefined {
    return this.#paragraphs.at(-1)
  }

  /** Runs now, or after the paragraph in which this is anchored. */
  emit(write: (out: BlockWriter) => void): void {
    const out = this.#out
    if (this.paragraph === undefined) write(out)
    else this.paragraph.after.push(() => write(out))
  }

  write(text: string): void {
    const frame = this.#frames.at(-1)
    if (this.inDescription && frame !== undefined) frame.alternative += text
    else if (this.paragraph !== undefined) this.paragraph.text += text
  }

  openParagraph(level?: number): void {
    const text = this.inNotes && level === undefined ? "Notes: " : (this.#mark ?? "")
    this.#mark = undefined
    this.#paragraphs.push({ text, level, sequence: false, pictures: [], after: [] })
  }

  closeParagraph(onTitle: ((text: string) => void) | undefined): void {
    const paragraph = this.#paragraphs.pop()
    if (paragraph === undefined) return
    const { after, level, pictures, sequence } = paragraph
    const text = paragraph.text.trim()
    const isItem = this.#item && text !== ""
    if (isItem) this.#item = false
    if (this.#styles.length === 0) this.#endList()
    if (this.inTitle && onTitle !== undefined) onTitle(text.replace(/\s+/g, " "))
    else
      this.emit((out) => {
        const isCaption = sequence && labelOf(text, true) !== undefined
        if (isItem) out.openItem("li")
        if (level !== undefined) out.openHeading(level)
        else if (isCaption) out.openCaption()
        else out.breakBlock()
        out.writeLines(text)
        if (level !== undefined) out.closeHeading()
        else if (isCaption) out.closeCaption()
        else out.breakBlock()
        for (const picture of pictures) out.picture(picture)
        if (pictures.length > 0) out.breakBlock()
      })
    for (const write of after) this.emit(write)
  }

  note(citation: string): void {
    this.write(`[${citation}]`)
    this.#mark = `[${citation}] `
  }

  openItem(): void {
    this.#item = true
  }

  openList(name = ""): void {
    this.#item = false
    const style = this.#numbered.has(name) ? name : ""
    if (this.#styles.length > 0 || this.#ended !== style) {
      this.#endList()
      const kind = style === "" ? "ul" : "ol"
      this.emit((out) => out.openList(kind))
    }
    this.#ended = undefined
    this.#styles.push(style)
  }

  closeList(): void {
    this.#item = false
    const style = this.#styles.pop()
    if (this.#styles.length === 0) this.#ended = style
    else this.emit((out) => out.closeList())
  }

  /** Ends the list that the next one could have continued. */
  #endList(): void {
    if (this.#ended !== undefined) this.emit((out) => out.closeList())
    this.#ended = undefined
  }

  /** A table ends a list. The picture of its frame is a preview. */
  openTable(): void {
    if (this.#styles.length === 0) this.#endList()
    const frame = this.#frames.at(-1)
    if (frame !== undefined) frame.isPreview = true
    this.emit((out) => out.openTable())
  }

  openFrame(attributes: Attributes): void {
    this.#frames.push({
      alternative: "",
      name: attributes["draw:name"] ?? "",
      reference: "",
      isPreview: false
    })
  }

  image(reference = ""): void {
    const frame = this.#frames.at(-1)
    // A frame may have its image in several formats
    if (frame !== undefined) frame.reference ||= reference
  }

  closeFrame(): void {
    const frame = this.#frames.pop()
    if (frame === undefined || frame.reference === "" || frame.isPreview) return
    const number = ++this.#pictures
    const isGenerated = /^(?:\p{L}+ ?\d*|\S+\.\w+)?$/u.test(frame.name)
    const picture: PictureDraft = {
      reference: frame.reference.replace(/^\.\//, ""),
      alternative: frame.alternative.replace(/\s+/g, " ").trim(),
      name: isGenerated ? `Picture ${number}` : titleFromPath(frame.name)
    }
    if (this.paragraph === undefined) this.emit((out) => out.picture(picture))
    else this.paragraph.pictures.push(picture)
  }
}

type OnOpen = (reader: OpenDocumentReader, attributes: Attributes) => void

const ON_OPEN: ReadonlyMap<string, OnOpen> = new Map(
  Object.entries<OnOpen>({
    "text:p": (reader) => reader.openParagraph(),
    "text:h": (reader, attributes) =>
      reader.openParagraph(Math.min(6, numberAt(attributes["text:outline-level"]))),
    "text:s": (reader) => reader.write(" "),
    "text:tab": (reader) => reader.write(" "),
    "text:line-break": (reader) => reader.write("\n"),
    "text:list": (reader, attributes) => reader.openList(attributes["text:style-name"]),
    "text:list-item": (reader) => reader.openItem(),
    "text:sequence": ({ paragraph }) => void (paragraph && (paragraph.sequence = true)),
    "table:table": (reader) => reader.openTable(),
    "table:table-row": (reader) => reader.emit((out) => out.openRow()),
    "table:table-cell": (reader, attributes) => {
      const columns = numberAt(attributes["table:number-columns-spanned"])
      const rows = numberAt(attributes["table:number-rows-spanned"])
      reader.emit((out) => out.openCell({ columns, rows }))
    },
    "draw:frame": (reader, attributes) => {
      reader.openFrame(attributes)
      reader.inTitle = attributes["presentation:class"] === "title"
    },
    "draw:image": (reader, attributes) => reader.image(attributes["xlink:href"]),
    "svg:title": (reader) => void (reader.inDescription = true),
    "svg:desc": (reader) => void (reader.inDescription = true),
    "presentation:notes": (reader) => void (reader.inNotes = true)
  })
)

type OnClose = (reader: OpenDocumentReader, slides: SlideHandler | undefined) => void

const closeDescription: OnClose = (reader) => void (reader.inDescription = false)
const closeParagraph: OnClose = (reader, slides) => reader.closeParagraph(slides?.title)

const ON_CLOSE: ReadonlyMap<string, OnClose> = new Map(
  Object.entries<OnClose>({
    "text:p": closeParagraph,
    "text:h": closeParagraph,
    "text:list": (reader) => reader.closeList(),
    "table:table": (reader) => reader.emit((out) => out.closeTable()),
    "draw:frame": (reader) => {
      reader.closeFrame()
      reader.inTitle = false
    },
    "svg:title": closeDescription,
    "svg:desc": closeDescription,
    "presentation:notes": (reader) => void (reader.inNotes = false)
  })
)

/** The names of the list styles whose first level has numbers, and of the page styles of hidden slides. */
const readStyles = async (from: ZipContainer) => {
  const numbered = new Set<string>()
  const hidden = new Set<string>()
  let style = ""
  const handler: XmlHandler = {
    open(name, attributes) {
      if (name === "text:list-style" || name === "style:style") style = attributes["style:name"] ?? ""
      else if (attributes["presentation:visibility"] === "hidden") hidden.add(style)
      else if (
        name === "text:list-level-style-number" &&
        attributes["text:level"] === "1" &&
        attributes["style:num-format"] !== ""
      )
        numbered.add(style)
    }
  }
  await readXml(from.read("styles.xml"), handler)
  await readXml(from.read("content.xml"), handler)
  return { hidden, numbered }
}

/** Writes the body into `out`, or each slide into a text of its own. Text boxes and notes follow their paragraph. */
export const readOpenDocument = async (
  from: ZipContainer,
  out: BlockWriter,
  slides?: SlideHandler
): Promise<void> => {
  const { hidden, numbered } = await readStyles(from)
  const reader = new OpenDocumentReader(out, numbered)
  /** Depth of open elements inside a skipped one. */
  let skipped = 0
  let citation: string | undefined
  await readXml(from.read("content.xml"), {
    open(name, attributes) {
      if (skipped > 0) skipped++
      else if (SKIPPED.has(name) || REPEATED.test(attributes["presentation:class"] ?? "")) skipped = 1
      else if (name === "draw:page" && slides !== undefined) {
        if (hidden.has(attributes["draw:style-name"] ?? "")) {
          slides.hidden()
          skipped = 1
        } else reader.use(slides.open())
      } else if (name === "text:note-citation") citation = ""
      else ON_OPEN.get(name)?.(reader, attributes)
    },
    text(text) {
      if (skipped > 0) return
      if (citation === undefined) reader.write(text)
      else citation += text
    },
    close(name) {
      if (skipped > 0) skipped--
      else if (name === "text:note-citation") {
        reader.note(citation ?? "")
        citation = undefined
      } else ON_CLOSE.get(name)?.(reader, slides)
    }
  })
}
