/** Reads the body of a Word document, one XML element at a time. */
import { titleFromPath } from "../parsing/FileName.ts"
import type { Relation } from "../container/Relations.ts"
import type { DocxText, DocxParagraph } from "./DocxText.ts"
import { Formula } from "./Formula.ts"
import { DELETED } from "./Notes.ts"
import type { Style } from "./Styles.ts"
import { type Attributes, isOn, type XmlHandler } from "../container/Xml.ts"

/** Parts of the package that the body refers to. */
interface BodyContext {
  readonly styles: ReadonlyMap<string, Style>
  /** The default paragraph style. */
  readonly defaultStyle: Style | undefined
  readonly relations: ReadonlyMap<string, Relation>
  /** Texts of footnotes and endnotes, by `footnote 2`, `endnote 2`. */
  readonly notes: ReadonlyMap<string, string>
  /** Texts of charts and diagrams, by relation id. */
  readonly charts: ReadonlyMap<string, string>
}

/** A picture that is being read. */
interface Drawing {
  alternative: string
  name: string
  /** Relation id of the image file. */
  image?: string | undefined
  /** Relation id of a chart or diagram, which Word renders. */
  chart?: string | undefined
}

/** A paragraph that is being read. */
interface OpenParagraph extends DocxParagraph {
  /** Writes the text boxes, notes and tables that are anchored in it. */
  readonly after: Array<() => void>
  /** Whether its mark is deleted, so that the next paragraph continues it. */
  isContinued: boolean
}

/** Deleted and moved text, ruby annotations, and properties without text. */
const SKIPPED = new Set([
  ...DELETED,
  ..."w:rt w:sdtPr w:sectPr w:pPrChange w:rPrChange w:tblPrChange w:tcPrChange".split(" ")
])

const DRAWINGS = new Set("wp:inline wp:anchor w:pict w:object".split(" "))

/** Names given by programs. They do not describe the picture. */
const GENERATED_NAME =
  /^(?:(?:picture|image|grafik|图片|图像|圖片|image|imagen|immagine|рисунок|object|shape|chart)\s*\d*|\S+\.(?:png|jpe?g|gif|bmp|emf|wmf|webp))$/i

/** The state of one body: its open elements. */
class BodyReader {
  /** Open paragraphs, outermost first: text boxes nest. */
  readonly #paragraphs: Array<OpenParagraph> = []
  /** Whether the innermost paragraph has ended and waits for the one that continues it. */
  #isWaiting = false
  readonly drawings: Array<Drawing> = []
  #pictures = 0
  inText = false
  inProperties = false
  isHidden = false
  /** Whether a row is open that has no cell yet. */
  inEmptyRow = false
  /** The field instruction that is being read, such as ` SEQ Figure `. */
  instruction: string | undefined
  formula: Formula | undefined
  /** A cell that is not written yet, since its properties follow. */
  #cell: { columns?: number; continued?: boolean } | undefined
  readonly #out: DocxText
  readonly #context: BodyContext

  constructor(out: DocxText, context: BodyContext) {
    this.#out = out
    this.#context = context
  }

  get paragraph(): OpenParagraph | undefined {
    return this.#paragraphs.at(-1)
  }

  get drawing(): Drawing | undefined {
    return this.drawings.at(-1)
  }

  /** Runs now, or after the paragraph in which this is anchored. */
  #emit(write: () => void): void {
    if (this.paragraph === undefined) write()
    else this.paragraph.after.push(write)
  }

  write(text: string): void {
    if (this.paragraph !== undefined && !this.isHidden) this.paragraph.text += text
  }

  text(text: string): void {
    if (this.inText && this.formula !== undefined) this.formula.write(text)
    else if (this.inText) this.write(text)
    else if (this.instruction !== undefined) this.instruction += text
  }

  openParagraph(): void {
    this.writeCell()
    // Properties come from the last paragraph whose mark is not deleted
    const continued = this.#isWaiting ? this.#paragraphs.pop() : undefined
    this.#isWaiting = false
    const { after = [], pictures = [], sequence = false, text = "" } = continued ?? {}
    const style = this.#context.defaultStyle
    this.#paragraphs.push({ text, style, sequence, pictures, after, isContinued: false })
  }

  #writeParagraph(): void {
    const paragraph = this.#paragraphs.pop()
    if (paragraph === undefined) return
    this.#emit(() => {
      this.#out.paragraph(paragraph)
      for (const write of paragraph.after) write()
    })
  }

  closeParagraph(): void {
    if (this.paragraph?.isContinued === true) this.#isWaiting = true
    else this.#writeParagraph()
  }

  /** Writes a paragraph that no other one continues. */
  endWaiting(): void {
    if (this.#isWaiting) this.#writeParagraph()
    this.#isWaiting = false
  }

  openTable(): void {
    this.writeCell()
    this.endWaiting()
    this.#emit(() => this.#out.openTable())
  }

  closeTable(): void {
    this.#emit(() => this.#out.closeTable())
  }

  openCell(): void {
    if (this.inEmptyRow) this.#emit(() => this.#out.openRow())
    this.inEmptyRow = false
    this.#cell = {}
  }

  /** Writes the cell whose properties have been read. */
  writeCell(): void {
    const cell = this.#cell
    if (cell === undefined) return
    this.#cell = undefined
    this.#emit(() => this.#out.openCell(cell))
  }

  note(kind: string, { "w:id": id = "" }: Attributes): void {
    const text = this.#context.notes.get(`${kind} ${id}`)
    if (text === undefined) return
    this.write(`[${id}]`)
    this.paragraph?.after.push(() =>
      this.#out.paragraph({ text: `[${id}] ${text}`, style: undefined, sequence: false, pictures: [] })
    )
  }

  closeInstruction(): void {
    this.field(this.instruction)
    this.instruction = undefined
  }

  /** A SEQ field numbers captions. */
  field(instruction = ""): void {
    if (/^\s*SEQ\s/i.test(instruction) && this.paragraph !== undefined) this.paragraph.sequence = true
  }

  closeDrawing(): void {
    const drawing = this.drawings.pop()
    const inside = this.#context.charts.get(drawing?.chart ?? "")
    if (drawing === undefined || (drawing.image === undefined && inside === undefined)) return
    const relation = this.#context.relations.get(drawing.image ?? "")
    const number = ++this.#pictures
    const hasName = drawing.name !== "" && !GENERATED_NAME.test(drawing.name)
    this.paragraph?.pictures.push({
      reference: relation?.target ?? drawing.image ?? "",
      alternative: drawing.alternative.replace(/\s+/g, " ").trim(),
      name: hasName ? titleFromPath(drawing.name) : `Picture ${number}`,
      inside
    })
  }

  closeFormula(): void {
    if (this.formula !== undefined) this.write(this.formula.finish())
    this.formula = undefined
  }

  /** Properties of paragraphs, runs, rows and cells. */
  property(name: string, attributes: Attributes): void {
    const value = attributes["w:val"]
    const { paragraph } = this
    if (name === "w:gridSpan" && this.#cell !== undefined) this.#cell.columns = Number(value)
    else if (name === "w:vMerge" && this.#cell !== undefined) this.#cell.continued = value !== "restart"
    else if (name === "w:vanish") this.isHidden = isOn(attributes)
    else if (!this.inProperties || paragraph === undefined || value === undefined) return
    else if (name === "w:pStyle") {
      paragraph.style = this.#context.styles.get(value) ?? this.#context.defaultStyle
    } else if (name === "w:outlineLvl") paragraph.outline = Number(value)
    else if (name === "w:numId") paragraph.list = { ...paragraph.list, id: value }
    else if (name === "w:ilvl") paragraph.list = { ...paragraph.list, level: Number(value) }
  }
}

type OnOpen = (reader: BodyReader, attributes: Attributes) => void

const openText: OnOpen = (reader) => void (reader.inText = true)

const showText = (reader: BodyReader): void => void (reader.isHidden = false)

const tab: OnOpen = (reader) => {
  if (!reader.inProperties) reader.write(" ")
}

const lineBreak: OnOpen = (reader, { "w:type": type = "textWrapping" }) =>
  reader.write(type === "textWrapping" ? "\n" : " ")

const chart: OnOpen = ({ drawing }, attributes) => {
  if (drawing !== undefined) drawing.chart ??= attributes["r:id"] ?? attributes["r:dm"]
}

const image: OnOpen = ({ drawing }, attributes) => {
  if (drawing === undefined) return
  drawing.image ??= attributes["r:embed"] ?? attributes["r:link"] ?? attributes["r:id"]
}

const ON_OPEN: ReadonlyMap<string, OnOpen> = new Map(
  Object.entries<OnOpen>({
    "w:p": (reader) => reader.openParagraph(),
    "w:pPr": (reader) => void (reader.inProperties = true),
    "w:r": showText,
    "w:t": openText,
    "m:t": openText,
    "w:tab": tab,
    "w:ptab": tab,
    "w:br": lineBreak,
    "w:cr": lineBreak,
    "w:noBreakHyphen": (reader) => reader.write("-"),
    "w:sym": (reader, attributes) => {
      const code = Number.parseInt(attributes["w:char"] ?? "", 16)
      // Characters of the private use area are symbols of one font
      if (code >= 32 && code < 0xd800) reader.write(String.fromCharCode(code))
    },
    "w:tbl": (reader) => reader.openTable(),
    "w:tr": (reader) => void (reader.inEmptyRow = true),
    "w:tc": (reader) => reader.openCell(),
    "w:footnoteReference": (reader, attributes) => reader.note("footnote", attributes),
    "w:endnoteReference": (reader, attributes) => reader.note("endnote", attributes),
    "w:fldSimple": (reader, attributes) => reader.field(attributes["w:instr"]),
    "w:instrText": (reader) => void (reader.instruction = ""),
    "m:oMath": (reader) => void (reader.formula = new Formula()),
    "wp:docPr": ({ drawing }, { descr, name, title }) => {
      if (drawing === undefined) return
      drawing.alternative ||= descr ?? title ?? ""
      drawing.name ||= title ?? name ?? ""
    },
    "v:shape": ({ drawing }, { alt = "" }) => {
      if (drawing !== undefined) drawing.alternative ||= alt
    },
    "c:chart": chart,
    "dgm:relIds": chart,
    "a:blip": image,
    "v:imagedata": image
  })
)

const closeText = (reader: BodyReader): void => void (reader.inText = false)

type OnClose = (reader: BodyReader) => void

const ON_CLOSE: ReadonlyMap<string, OnClose> = new Map(
  Object.entries<OnClose>({
    "w:p": (reader) => reader.closeParagraph(),
    "w:body": (reader) => reader.endWaiting(),
    "w:txbxContent": (reader) => reader.endWaiting(),
    "w:pPr": (reader) => void (reader.inProperties = false),
    "w:t": closeText,
    "m:t": closeText,
    "w:r": showText,
    "w:tc": (reader) => {
      reader.writeCell()
      reader.endWaiting()
    },
    // A row may have no cell
    "w:tr": (reader) => void (reader.inEmptyRow = false),
    "w:tbl": (reader) => reader.closeTable(),
    "w:instrText": (reader) => reader.closeInstruction(),
    "m:oMath": (reader) => reader.closeFormula()
  })
)

/**
 * Returns the XML handler that reads a body into `out`.
 *
 * **Details.** The text of a text box or note follows the paragraph in which it is anchored. Tracked insertions are read
 * and deletions are not; if a paragraph mark is deleted, the next paragraph continues the text.
 */
export const bodyHandler = (out: DocxText, context: BodyContext): XmlHandler => {
  const reader = new BodyReader(out, context)
  /** For each open alternative, whether one of its forms was read. */
  const alternatives: Array<boolean> = []
  /** Depth of open elements inside a skipped one. */
  let skipped = 0

  const skip = (name: string): void => {
    skipped = 1
    if (!DELETED.has(name)) return
    if (reader.inProperties && reader.paragraph !== undefined) reader.paragraph.isContinued = true
    if (!reader.inEmptyRow) return
    // The row's properties mark it as deleted: skip the mark, the properties and the row
    skipped = 3
    reader.inEmptyRow = false
  }

  return {
    open(name, attributes) {
      const onOpen = ON_OPEN.get(name)
      if (skipped > 0) skipped++
      else if (SKIPPED.has(name)) skip(name)
      else if (name === "mc:AlternateContent") alternatives.push(false)
      else if (name === "mc:Choice" || name === "mc:Fallback") {
        if (alternatives.at(-1) === true) skipped = 1
        else if (alternatives.length > 0) alternatives[alternatives.length - 1] = true
      } else if (onOpen !== undefined) onOpen(reader, attributes)
      else if (DRAWINGS.has(name)) reader.drawings.push({ alternative: "", name: "" })
      else if (reader.formula !== undefined) reader.formula.open(name, attributes["m:val"])
      else reader.property(name, attributes)
    },
    text(text) {
      if (skipped === 0) reader.text(text)
    },
    close(name) {
      const onClose = ON_CLOSE.get(name)
      if (skipped > 0) skipped--
      else if (name === "mc:AlternateContent") alternatives.pop()
      else if (onClose !== undefined) onClose(reader)
      else if (DRAWINGS.has(name)) reader.closeDrawing()
      else reader.formula?.close(name)
    }
  }
}
