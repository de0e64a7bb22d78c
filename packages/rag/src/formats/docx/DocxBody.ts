/** Reads the body of a Word document, one XML element at a time. */
import type { PictureDraft } from "../parsing/FigureDraft.ts"
import { titleFromPath } from "../parsing/FileName.ts"
import type { DocxText, DocxParagraph } from "./DocxText.ts"
import { DELETED } from "./Notes.ts"
import { Formula } from "./Omml.ts"
import type { Relation } from "./Relations.ts"
import type { Style } from "./Styles.ts"
import { type Attributes, isOn, type XmlHandler } from "./Xml.ts"

/** Parts of the package that the body refers to. */
export interface BodyContext {
  readonly styles: ReadonlyMap<string, Style>
  /** The default paragraph style. */
  readonly defaultStyle: Style | undefined
  readonly relations: ReadonlyMap<string, Relation>
  /** Texts of footnotes and endnotes, by `footnote 2`, `endnote 2`. */
  readonly notes: ReadonlyMap<string, string>
  /** Text of charts and diagrams, by relation id. */
  readonly drawn: ReadonlyMap<string, string>
}

/** A picture while it is being read. */
interface Drawing {
  alternative: string
  name: string
  /** Relation id of the image file. */
  relation: string | undefined
  /** Relation id of a chart or diagram, which Word renders itself. */
  drawn: string | undefined
}

/** A paragraph while it is being read. */
interface OpenParagraph extends DocxParagraph {
  /** Text boxes, notes and tables anchored in it, written after it. */
  readonly after: Array<() => void>
  /** Whether its paragraph mark is deleted, so that the next paragraph continues it. */
  continues: boolean
}

/** Deleted and moved text, ruby annotations, and properties without text. */
const SKIPPED = new Set([
  ...DELETED,
  ..."w:rt w:sdtPr w:sectPr w:pPrChange w:rPrChange w:tblPrChange w:tcPrChange".split(" ")
])

const DRAWINGS = new Set("wp:inline wp:anchor w:pict w:object".split(" "))

/** Names that a program generated. They say nothing about the picture. */
const GENERATED_NAME =
  /^(?:(?:picture|image|grafik|图片|图像|圖片|image|imagen|immagine|рисунок|object|shape|chart)\s*\d*|\S+\.(?:png|jpe?g|gif|bmp|emf|wmf|webp))$/i

/** What is read inside one body, and the element that is open in each respect. */
class BodyReader {
  /** Open paragraphs, outermost first: text boxes nest. */
  readonly #paragraphs: Array<OpenParagraph> = []
  /** Whether the innermost paragraph has ended and waits for the one that continues it. */
  #waits = false
  readonly #drawings: Array<Drawing> = []
  #pictures = 0
  inText = false
  inProperties = false
  isHidden = false
  /** Whether a table row has begun without a cell so far. */
  rowBegun = false
  /** Field instruction being read, such as ` SEQ Figure `. */
  #instruction: string | undefined
  formula: Formula | undefined
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
    return this.#drawings.at(-1)
  }

  /** Runs now, or after the paragraph that this is anchored in. */
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
    else if (this.#instruction !== undefined) this.#instruction += text
  }

  beginParagraph(): void {
    this.beginCell()
    // The properties of a continued paragraph are those of the last mark that is not deleted.
    const before = this.#waits ? this.#paragraphs.pop() : undefined
    this.#waits = false
    const { after, pictures, sequence, text } = before ?? {
      text: "",
      sequence: false,
      pictures: [],
      after: []
    }
    this.#paragraphs.push({
      text,
      style: this.#context.defaultStyle,
      sequence,
      pictures,
      after,
      continues: false
    })
  }

  endParagraph(): void {
    const paragraph = this.#paragraphs.pop()
    if (paragraph === undefined) return
    this.#emit(() => {
      this.#out.paragraph(paragraph)
      for (const write of paragraph.after) write()
    })
  }

  /** Ends the paragraph, unless the next one continues it. */
  endMark(): void {
    if (this.paragraph?.continues === true) this.#waits = true
    else this.endParagraph()
  }

  /** Ends a paragraph that no other continues. */
  endWaiting(): void {
    if (this.#waits) this.endParagraph()
    this.#waits = false
  }

  beginTable(): void {
    this.beginCell()
    this.endWaiting()
    this.#emit(() => this.#out.openTable())
  }

  endTable(): void {
    this.#emit(() => this.#out.closeTable())
  }

  /** Writes the cell whose properties have been read. */
  beginCell(): void {
    const cell = this.#cell
    if (cell === undefined) return
    this.#cell = undefined
    this.#emit(() => this.#out.openCell(cell))
  }

  openCell(): void {
    if (this.rowBegun) this.#emit(() => this.#out.openRow())
    this.rowBegun = false
    this.#cell = {}
  }

  note(kind: string, { "w:id": id = "" }: Attributes): void {
    const text = this.#context.notes.get(`${kind} ${id}`)
    if (text === undefined) return
    this.write(`[${id}]`)
    const pictures: Array<PictureDraft> = []
    this.paragraph?.after.push(() =>
      this.#out.paragraph({ text: `[${id}] ${text}`, style: undefined, sequence: false, pictures })
    )
  }

  beginInstruction(): void {
    this.#instruction = ""
  }

  endInstruction(): void {
    this.field(this.#instruction)
    this.#instruction = undefined
  }

  /** A SEQ field numbers captions. */
  field(instruction = ""): void {
    if (/^\s*SEQ\s/i.test(instruction) && this.paragraph !== undefined) this.paragraph.sequence = true
  }

  beginDrawing(): void {
    this.#drawings.push({ alternative: "", name: "", relation: undefined, drawn: undefined })
  }

  endDrawing(): void {
    const drawing = this.#drawings.pop()
    if (drawing === undefined) return
    const inside = this.#context.drawn.get(drawing.drawn ?? "")
    if (drawing.relation === undefined && inside === undefined) return
    const relation = this.#context.relations.get(drawing.relation ?? "")
    const number = ++this.#pictures
    const hasName = drawing.name !== "" && !GENERATED_NAME.test(drawing.name)
    this.paragraph?.pictures.push({
      reference: relation?.target ?? drawing.relation ?? "",
      alternative: drawing.alternative.replace(/\s+/g, " ").trim(),
      name: hasName ? titleFromPath(drawing.name) : `Picture ${number}`,
      inside
    })
  }

  endFormula(): void {
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
type OnClose = (reader: BodyReader) => void

const readText: OnOpen = (reader) => {
  reader.inText = true
}

const showText: OnOpen & OnClose = (reader: BodyReader) => {
  reader.isHidden = false
}

const tab: OnOpen = (reader) => {
  if (!reader.inProperties) reader.write(" ")
}

const lineBreak: OnOpen = (reader, { "w:type": type = "textWrapping" }) =>
  reader.write(type === "textWrapping" ? "\n" : " ")

const symbol: OnOpen = (reader, attributes) => {
  const code = Number.parseInt(attributes["w:char"] ?? "", 16)
  // Characters of the private use area are symbols of one font.
  if (code >= 32 && code < 0xd800) reader.write(String.fromCharCode(code))
}

const drawingProperties: OnOpen = ({ drawing }, { descr, name, title }) => {
  if (drawing === undefined) return
  drawing.alternative ||= descr ?? title ?? ""
  drawing.name ||= title ?? name ?? ""
}

const shape: OnOpen = ({ drawing }, { alt = "" }) => {
  if (drawing !== undefined) drawing.alternative ||= alt
}

const diagram: OnOpen = ({ drawing }, attributes) => {
  if (drawing !== undefined) drawing.drawn ??= attributes["r:id"] ?? attributes["r:dm"]
}

const imageFile: OnOpen = ({ drawing }, attributes) => {
  if (drawing === undefined) return
  drawing.relation ??= attributes["r:embed"] ?? attributes["r:link"] ?? attributes["r:id"]
}

const ON_OPEN: ReadonlyMap<string, OnOpen> = new Map<string, OnOpen>([
  ["w:p", (reader) => reader.beginParagraph()],
  ["w:pPr", (reader) => void (reader.inProperties = true)],
  ["w:r", showText],
  ["w:t", readText],
  ["m:t", readText],
  ["w:tab", tab],
  ["w:ptab", tab],
  ["w:br", lineBreak],
  ["w:cr", lineBreak],
  ["w:noBreakHyphen", (reader) => reader.write("-")],
  ["w:sym", symbol],
  ["w:tbl", (reader) => reader.beginTable()],
  ["w:tr", (reader) => void (reader.rowBegun = true)],
  ["w:tc", (reader) => reader.openCell()],
  ["w:footnoteReference", (reader, attributes) => reader.note("footnote", attributes)],
  ["w:endnoteReference", (reader, attributes) => reader.note("endnote", attributes)],
  ["w:fldSimple", (reader, attributes) => reader.field(attributes["w:instr"])],
  ["w:instrText", (reader) => reader.beginInstruction()],
  ["m:oMath", (reader) => void (reader.formula = new Formula())],
  ["wp:docPr", drawingProperties],
  ["v:shape", shape],
  ["c:chart", diagram],
  ["dgm:relIds", diagram],
  ["a:blip", imageFile],
  ["v:imagedata", imageFile]
])

const endText: OnClose = (reader) => {
  reader.inText = false
}

const ON_CLOSE: ReadonlyMap<string, OnClose> = new Map<string, OnClose>([
  ["w:p", (reader) => reader.endMark()],
  ["w:body", (reader) => reader.endWaiting()],
  ["w:txbxContent", (reader) => reader.endWaiting()],
  ["w:pPr", (reader) => void (reader.inProperties = false)],
  ["w:t", endText],
  ["m:t", endText],
  ["w:r", showText],
  [
    "w:tc",
    (reader) => {
      reader.beginCell()
      reader.endWaiting()
    }
  ],
  // A row may have no cell.
  ["w:tr", (reader) => void (reader.rowBegun = false)],
  ["w:tbl", (reader) => reader.endTable()],
  ["w:instrText", (reader) => reader.endInstruction()],
  ["m:oMath", (reader) => reader.endFormula()]
])

/**
 * Returns the XML handler that reads a body into `out`.
 *
 * **Details.** The text of a text box or note follows the paragraph that it is anchored in. Tracked insertions are read
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
    if (reader.inProperties && reader.paragraph !== undefined) reader.paragraph.continues = true
    if (!reader.rowBegun) return
    // The properties say that this row is deleted: the mark, the properties and the row are skipped to their ends.
    skipped = 3
    reader.rowBegun = false
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
      else if (DRAWINGS.has(name)) reader.beginDrawing()
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
      else if (DRAWINGS.has(name)) reader.endDrawing()
      else reader.formula?.close(name)
    }
  }
}
