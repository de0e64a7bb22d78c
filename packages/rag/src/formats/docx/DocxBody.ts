/** The body of a Word document, element by element. */
import type { PictureDraft } from "../parsing/FigureDraft.ts"
import { titleFromPath } from "../parsing/FileName.ts"
import type { DocxText, DocxParagraph } from "./DocxText.ts"
import { DELETED } from "./Notes.ts"
import { Formula } from "./Omml.ts"
import type { Relation } from "./Relations.ts"
import type { Style } from "./Styles.ts"
import { type Attributes, isOn, type XmlHandler } from "./Xml.ts"

/** What the body refers to. */
export interface BodyContext {
  readonly styles: ReadonlyMap<string, Style>
  /** The style of paragraphs that name none. */
  readonly usual: Style | undefined
  readonly relations: ReadonlyMap<string, Relation>
  /** Texts of footnotes and endnotes, by `footnote 2`, `endnote 2`. */
  readonly notes: ReadonlyMap<string, string>
  /** What is written in charts and diagrams, by the identifier of their relation. */
  readonly drawn: ReadonlyMap<string, string>
}

/** A picture while it is being read. */
interface Drawing {
  alternative: string
  name: string
  relation: string | undefined
  /** Of a chart or diagram that Word draws itself. */
  drawn: string | undefined
}

/** Deleted and moved text, older doubles of drawings, readings above characters, properties without text. */
const SKIPPED = new Set([
  ...DELETED,
  ..."w:rt w:sdtPr w:sectPr w:pPrChange w:rPrChange w:tblPrChange w:tcPrChange".split(" ")
])

const DRAWINGS = new Set("wp:inline wp:anchor w:pict w:object".split(" "))

/** A name that a program gave by itself says nothing. */
const GIVEN_NAME =
  /^(?:(?:picture|image|grafik|图片|图像|圖片|image|imagen|immagine|рисунок|object|shape|chart)\s*\d*|\S+\.(?:png|jpe?g|gif|bmp|emf|wmf|webp))$/i

/**
 * The handler that reads a body into `out`.
 *
 * **Details.** What stands in a text box or a note comes after the paragraph that it hangs on. Of tracked changes,
 * insertions are read and deletions are not; where the mark of a paragraph is deleted, the next one goes on with it.
 */
export const bodyHandler = (out: DocxText, context: BodyContext): XmlHandler => {
  interface Open extends DocxParagraph {
    readonly after: Array<() => void>
    /** Whether its mark is deleted: the next paragraph goes on with its text. */
    goesOn: boolean
  }
  const open: Array<Open> = []
  /** Whether the innermost one has ended, and waits for the paragraph that goes on with it. */
  let waits = false
  const drawings: Array<Drawing> = []
  /** For each choice between two forms of the same, whether one was read. */
  const choices: Array<boolean> = []
  let skipped = 0
  let inText = false
  let inProperties = false
  let instruction = ""
  let inInstruction = false
  let vanished = false
  let formula: Formula | undefined
  let cell: { columns?: number; continued?: boolean } | undefined
  /** Whether a row has begun, and none of its cells. */
  let rowBegun = false
  let pictures = 0

  const emit = (write: () => void): void => {
    const host = open.at(-1)
    if (host === undefined) write()
    else host.after.push(write)
  }
  const write = (text: string): void => {
    const paragraph = open.at(-1)
    if (paragraph !== undefined && !vanished) paragraph.text += text
  }
  const beginCell = (): void => {
    const begun = cell
    if (begun === undefined) return
    cell = undefined
    emit(() => out.openCell(begun))
  }
  const endParagraph = (): void => {
    const paragraph = open.pop()
    if (paragraph === undefined) return
    emit(() => {
      out.paragraph(paragraph)
      for (const write of paragraph.after) write()
    })
  }
  const endWaiting = (): void => {
    if (waits) endParagraph()
    waits = false
  }
  const note = (kind: string, { "w:id": id = "" }: Attributes): void => {
    const text = context.notes.get(`${kind} ${id}`)
    if (text === undefined) return
    write(`[${id}]`)
    const pictures: Array<PictureDraft> = []
    open
      .at(-1)
      ?.after.push(() =>
        out.paragraph({ text: `[${id}] ${text}`, style: undefined, sequence: false, pictures })
      )
  }
  const endDrawing = (): void => {
    const drawing = drawings.pop()
    if (drawing === undefined) return
    const inside = context.drawn.get(drawing.drawn ?? "")
    if (drawing.relation === undefined && inside === undefined) return
    const relation = context.relations.get(drawing.relation ?? "")
    const n = ++pictures
    const named =
      drawing.name !== "" && !GIVEN_NAME.test(drawing.name) ? titleFromPath(drawing.name) : `Picture ${n}`
    const alternative = drawing.alternative.replace(/\s+/g, " ").trim()
    const reference = relation?.target ?? drawing.relation ?? ""
    open.at(-1)?.pictures.push({ reference, alternative, name: named, inside })
  }

  /** What the properties of paragraphs, runs, rows and cells say. */
  const property = (name: string, attributes: Attributes): void => {
    const value = attributes["w:val"]
    const paragraph = open.at(-1)
    if (name === "w:gridSpan" && cell !== undefined) cell.columns = Number(value)
    else if (name === "w:vMerge" && cell !== undefined) cell.continued = value !== "restart"
    else if (name === "w:vanish") vanished = isOn(attributes)
    else if (!inProperties || paragraph === undefined || value === undefined) return
    else if (name === "w:pStyle") paragraph.style = context.styles.get(value) ?? context.usual
    else if (name === "w:outlineLvl") paragraph.outline = Number(value)
    else if (name === "w:numId") paragraph.list = { ...paragraph.list, id: value }
    else if (name === "w:ilvl") paragraph.list = { ...paragraph.list, level: Number(value) }
  }

  const skip = (name: string): void => {
    skipped = 1
    if (!DELETED.has(name)) return
    const paragraph = open.at(-1)
    if (inProperties && paragraph !== undefined) paragraph.goesOn = true
    if (!rowBegun) return
    // The row is deleted of whose properties this one is: all three are skipped to their ends
    skipped = 3
    rowBegun = false
  }

  const openElement = (name: string, attributes: Attributes): void => {
    switch (name) {
      case "w:p": {
        beginCell()
        // What a paragraph is, its own mark says, and that of the one that it goes on with is gone
        const before = waits ? open.pop() : undefined
        waits = false
        const begun = before ?? { text: "", sequence: false, pictures: [], after: [] }
        const { after, pictures, sequence, text } = begun
        open.push({ text, style: context.usual, sequence, pictures, after, goesOn: false })
        return
      }
      case "w:pPr":
        inProperties = true
        return
      case "w:r":
        vanished = false
        return
      case "w:t":
      case "m:t":
        inText = true
        return
      case "w:tab":
      case "w:ptab":
        if (!inProperties) write(" ")
        return
      case "w:br":
      case "w:cr":
        write(attributes["w:type"] === undefined || attributes["w:type"] === "textWrapping" ? "\n" : " ")
        return
      case "w:noBreakHyphen":
        write("-")
        return
      case "w:sym": {
        const code = Number.parseInt(attributes["w:char"] ?? "", 16)
        // What stands in a private area is a sign of one font alone
        if (code >= 32 && code < 0xd800) write(String.fromCharCode(code))
        return
      }
      case "w:tbl":
        beginCell()
        endWaiting()
        emit(() => out.openTable())
        return
      case "w:tr":
        rowBegun = true
        return
      case "w:tc":
        if (rowBegun) emit(() => out.openRow())
        rowBegun = false
        cell = {}
        return
      case "w:footnoteReference":
        note("footnote", attributes)
        return
      case "w:endnoteReference":
        note("endnote", attributes)
        return
      case "w:fldSimple":
        if (/^\s*SEQ\s/i.test(attributes["w:instr"] ?? "") && open.length > 0) open.at(-1)!.sequence = true
        return
      case "w:instrText":
        inInstruction = true
        instruction = ""
        return
      case "m:oMath":
        formula = new Formula()
        return
      case "wp:docPr":
        if (drawings.length > 0) {
          const drawing = drawings.at(-1)!
          drawing.alternative ||= attributes["descr"] ?? attributes["title"] ?? ""
          drawing.name ||= attributes["title"] ?? attributes["name"] ?? ""
        }
        return
      case "v:shape":
        if (drawings.length > 0) drawings.at(-1)!.alternative ||= attributes["alt"] ?? ""
        return
      case "c:chart":
      case "dgm:relIds":
        if (drawings.length > 0) drawings.at(-1)!.drawn ??= attributes["r:id"] ?? attributes["r:dm"]
        return
      case "a:blip":
      case "v:imagedata":
        if (drawings.length > 0) {
          drawings.at(-1)!.relation ??= attributes["r:embed"] ?? attributes["r:link"] ?? attributes["r:id"]
        }
        return
      default:
        if (DRAWINGS.has(name))
          drawings.push({ alternative: "", name: "", relation: undefined, drawn: undefined })
        else if (formula !== undefined) formula.open(name, attributes["m:val"])
        else property(name, attributes)
    }
  }

  const closeElement = (name: string): void => {
    switch (name) {
      case "w:p":
        if (open.at(-1)?.goesOn === true) waits = true
        else endParagraph()
        return
      case "w:body":
      case "w:txbxContent":
        endWaiting()
        return
      case "w:pPr":
        inProperties = false
        return
      case "w:t":
      case "m:t":
        inText = false
        return
      case "w:r":
        vanished = false
        return
      case "w:tc":
        beginCell()
        endWaiting()
        return
      case "w:tr":
        // One without a cell
        rowBegun = false
        return
      case "w:tbl":
        emit(() => out.closeTable())
        return
      case "w:instrText":
        inInstruction = false
        if (/^\s*SEQ\s/i.test(instruction) && open.length > 0) open.at(-1)!.sequence = true
        return
      case "m:oMath":
        if (formula !== undefined) write(formula.finish())
        formula = undefined
        return
      default:
        if (DRAWINGS.has(name)) endDrawing()
        else formula?.close(name)
    }
  }

  return {
    open(name, attributes) {
      if (skipped > 0) skipped++
      else if (SKIPPED.has(name)) skip(name)
      else if (name === "mc:AlternateContent") choices.push(false)
      else if (name === "mc:Choice" || name === "mc:Fallback") {
        if (choices.at(-1) === true) skipped = 1
        else if (choices.length > 0) choices[choices.length - 1] = true
      } else openElement(name, attributes)
    },
    text(text) {
      if (skipped > 0) return
      if (inText && formula !== undefined) formula.write(text)
      else if (inText) write(text)
      else if (inInstruction) instruction += text
    },
    close(name) {
      if (skipped > 0) skipped--
      else if (name === "mc:AlternateContent") choices.pop()
      else closeElement(name)
    }
  }
}
