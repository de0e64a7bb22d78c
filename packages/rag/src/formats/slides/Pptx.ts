/** Reads PowerPoint presentations. */
import { readCharts } from "../container/Charts.ts"
import { readTitle } from "../container/OfficeFile.ts"
import { readRelations, targetOf, type Relation } from "../container/Relations.ts"
import { type Attributes, findAll, readTree, readXml } from "../container/Xml.ts"
import type { ZipContainer } from "../container/ZipContainer.ts"
import type { PictureDraft } from "../parsing/DraftBlock.ts"
import { malformed } from "../parsing/FormatFault.ts"
import { Slide } from "./Slide.ts"

/** Placeholders that each slide repeats. */
const REPEATED = /^(?:sldNum|dt|ftr|hdr)$/

/** Names given by programs. They do not describe the picture. */
const GENERATED_NAME = /^(?:\p{L}+(?: \p{L}+)? ?\d*|\S+\.\w{3,4})?$/u

interface Shape {
  /** The type of its placeholder; undefined for other shapes. */
  placeholder: string | undefined
  readonly paragraphs: Array<{ text: string; level: number }>
}

/** The state of one slide: its open elements. */
class SlideReader {
  readonly slide = new Slide()
  readonly #relations: ReadonlyMap<string, Relation>
  readonly #charts: ReadonlyMap<string, string>
  #shape: Shape | undefined
  #picture: { alternative: string; name: string; image?: string; chart?: string } | undefined
  #pictures = 0
  #inTable = false
  #inText = false
  #inNumber = false
  #isMerged = false

  constructor(relations: ReadonlyMap<string, Relation>, charts: ReadonlyMap<string, string>) {
    this.#relations = relations
    this.#charts = charts
  }

  open(name: string, attributes: Attributes): void {
    const { out } = this.slide
    if (name === "p:sp") this.#shape = { placeholder: undefined, paragraphs: [] }
    else if (name === "p:ph" && this.#shape) this.#shape.placeholder = attributes["type"] ?? "body"
    else if (name === "p:pic" || name === "p:graphicFrame") this.#picture = { alternative: "", name: "" }
    else if (name === "p:cNvPr" && this.#picture) {
      this.#picture.alternative = attributes["descr"] ?? attributes["title"] ?? ""
      this.#picture.name = attributes["name"] ?? ""
    } else if (name === "a:blip" && this.#picture) this.#picture.image ??= attributes["r:embed"] ?? ""
    else if ((name === "c:chart" || name === "dgm:relIds") && this.#picture) {
      this.#picture.chart = attributes["r:id"] ?? attributes["r:dm"] ?? ""
    } else if (name === "a:tbl") {
      this.#inTable = true
      out.openTable()
    } else if (name === "a:tr") out.openRow()
    else if (name === "a:tc") {
      this.#isMerged = attributes["hMerge"] === "1" || attributes["vMerge"] === "1"
      const span = (key: string): number => Math.max(1, Number(attributes[key]) || 1)
      if (!this.#isMerged) out.openCell({ columns: span("gridSpan"), rows: span("rowSpan") })
    } else if (name === "a:p") this.#shape?.paragraphs.push({ text: "", level: 0 })
    else if (name === "a:pPr") {
      const paragraph = this.#shape?.paragraphs.at(-1)
      if (paragraph) paragraph.level = Math.min(8, Number(attributes["lvl"]) || 0)
    } else if (name === "a:fld") this.#inNumber = attributes["type"] === "slidenum"
    else if (name === "a:t") this.#inText = !this.#inNumber
    else if (name === "a:br" || name === "a:tab") this.#write(name === "a:br" ? "\n" : " ")
  }

  text(text: string): void {
    if (this.#inText) this.#write(text)
  }

  close(name: string): void {
    const { out } = this.slide
    if (name === "p:sp") this.#closeShape()
    else if (name === "p:pic" || name === "p:graphicFrame") this.#closePicture()
    else if (name === "a:tbl") {
      this.#inTable = false
      out.closeTable()
    } else if (name === "a:tc") this.#isMerged = false
    else if (name === "a:p" && this.#inTable) out.breakBlock()
    else if (name === "a:fld") this.#inNumber = false
    else if (name === "a:t") this.#inText = false
  }

  #write(text: string): void {
    if (this.#inTable) {
      if (!this.#isMerged) this.slide.out.write(text)
    } else {
      const paragraph = this.#shape?.paragraphs.at(-1)
      if (paragraph) paragraph.text += text
    }
  }

  #closeShape(): void {
    const { paragraphs = [], placeholder } = this.#shape ?? {}
    this.#shape = undefined
    const { out } = this.slide
    const written = paragraphs.filter(({ text }) => text.trim() !== "")
    if (REPEATED.test(placeholder ?? "") || written.length === 0) return
    if (/^(?:title|ctrTitle)$/.test(placeholder ?? "") && this.slide.title === "") {
      this.slide.title = written.map(({ text }) => text.replace(/\s+/g, " ").trim()).join(" ")
    } else if (placeholder === undefined || written.length === 1) {
      for (const { text } of written) {
        out.breakBlock()
        out.writeLines(text)
        out.breakBlock()
      }
    } else {
      // The text of a placeholder has bullets, by the slide's layout
      let depth = 0
      for (const { level, text } of written) {
        for (; depth > level + 1; depth--) out.closeList()
        for (; depth <= level; depth++) out.openList("ul")
        out.openItem("li")
        out.writeLines(text)
      }
      for (; depth > 0; depth--) out.closeList()
    }
  }

  #closePicture(): void {
    const drawn = this.#picture
    this.#picture = undefined
    const inside = this.#charts.get(drawn?.chart ?? "")
    if (drawn === undefined || (drawn.image === undefined && inside === undefined)) return
    const relation = this.#relations.get(drawn.image ?? "")
    const number = ++this.#pictures
    const picture: PictureDraft = {
      reference: relation?.target ?? "",
      alternative: drawn.alternative.replace(/\s+/g, " ").trim(),
      name: GENERATED_NAME.test(drawn.name) ? `Picture ${number}` : drawn.name,
      inside
    }
    this.slide.out.picture(picture)
    this.slide.out.breakBlock()
  }
}

/** The speaker's notes: the text of the notes page's body. */
const readSpeakerNotes = async (
  from: ZipContainer,
  part: string | undefined
): Promise<ReadonlyArray<string>> => {
  if (part === undefined) return []
  const shapes = findAll(await readTree(from.read(part)), ["p:sp"])
  return shapes
    .filter((shape) => findAll(shape, ["p:ph"]).some(({ attributes }) => attributes["type"] === "body"))
    .flatMap((shape) => findAll(shape, ["a:p"]))
    .map((paragraph) =>
      findAll(paragraph, ["a:t", "a:br"])
        .map((run) => (run.name === "a:br" ? " " : run.text))
        .join("")
        .trim()
    )
    .filter((text) => text !== "")
}

/** Undefined for a hidden slide. */
const readSlide = async (from: ZipContainer, part: string): Promise<Slide | undefined> => {
  const relations = await readRelations(from, part)
  const reader = new SlideReader(relations, await readCharts(from, relations))
  let isHidden = false
  /** Depth of open elements inside a form for older programs. */
  let skipped = 0
  await readXml(from.read(part), {
    open(name, attributes) {
      if (name === "p:sld") isHidden = /^(?:0|false)$/.test(attributes["show"] ?? "")
      if (skipped > 0 || name === "mc:Fallback") skipped++
      else reader.open(name, attributes)
    },
    text(text) {
      if (skipped === 0) reader.text(text)
    },
    close(name) {
      if (skipped > 0) skipped--
      else reader.close(name)
    }
  })
  if (isHidden) return undefined
  const { out } = reader.slide
  for (const note of await readSpeakerNotes(from, targetOf(relations, "notesSlide"))) {
    out.breakBlock()
    out.write(`Notes: ${note}`)
    out.breakBlock()
  }
  return reader.slide
}

/** The title in the properties, and the slides in their order; hidden ones are undefined. */
export const readPptx = async (from: ZipContainer) => {
  const packageRelations = await readRelations(from, "")
  const main = targetOf(packageRelations, "officeDocument") ?? "ppt/presentation.xml"
  if (!from.has(main)) {
    throw malformed(
      "this is no PowerPoint file. Save it in PowerPoint as .pptx, or correct the file's ending."
    )
  }
  const relations = await readRelations(from, main)
  const slides: Array<Slide | undefined> = []
  for (const { attributes } of findAll(await readTree(from.read(main)), ["p:sldId"])) {
    const relation = relations.get(attributes["r:id"] ?? "")
    if (relation !== undefined && !relation.external) slides.push(await readSlide(from, relation.target))
  }
  return { slides, title: await readTitle(from, targetOf(packageRelations, "core-properties")) }
}
