/** Parses HTML to the text that a browser shows. */
import { Effect } from "effect"
import { Parser } from "htmlparser2"
import { BlockWriter } from "../parsing/BlockWriter.ts"
import { type ParsedDraft, withFigures } from "../parsing/Captions.ts"
import type { DocumentFormat } from "../parsing/DocumentFormat.ts"
import { topHeading } from "../parsing/DraftBlock.ts"
import { loadPictures } from "../parsing/Pictures.ts"
import { declaredCharset, decodeFile } from "../parsing/TextDecoding.ts"
import { type HtmlAttributes, isInline, nameOfReference, spanOf } from "./HtmlAttributes.ts"

/** Elements that are invisible or not part of the text: scripts, navigation, form controls. */
const SKIPPED = new Set(
  "script style template noscript nav svg math iframe object canvas audio video button select textarea input datalist dialog rt rp del".split(
    " "
  )
)
/** Elements that begin and end a paragraph. */
const BLOCKS = new Set(
  (
    "address article aside body blockquote center dd details dialog div dl dt fieldset footer form " +
    "header hgroup hr html legend li main menu ol p pre search section summary table tbody td tfoot th thead tr ul"
  ).split(" ")
)

/** Browsers nest elements at most 512 deep. */
const MAX_DEPTH = 2_000

const isHidden = (attributes: HtmlAttributes): boolean =>
  attributes["hidden"] !== undefined ||
  attributes["aria-hidden"] === "true" ||
  attributes["role"] === "navigation" ||
  /display\s*:\s*none|visibility\s*:\s*hidden/i.test(attributes["style"] ?? "")

/** Writes a picture. A small one is part of its line; decoration is left out, except in a figure. */
const writeImage = (out: BlockWriter, attributes: HtmlAttributes, inFigure: boolean): void => {
  const alternative = (attributes["alt"] ?? "").replace(/\s+/g, " ").trim()
  if (isInline(attributes)) return out.write(alternative)
  const isDecoration = attributes["alt"] === "" || /^(?:presentation|none)$/.test(attributes["role"] ?? "")
  const reference = (attributes["src"] ?? attributes["data-src"] ?? "").trim()
  if (!inFigure && (isDecoration || (alternative === "" && /^(?:[a-z]+:)?\/\//i.test(reference)))) return
  out.picture({ reference, alternative, name: nameOfReference(reference) })
}

/** Reads the elements of one page. */
class HtmlReader {
  readonly out = new BlockWriter()
  /** Depth of open elements, and of those inside a skipped one. */
  depth = 0
  #skipped = 0
  #figures = 0
  /** Texts of an SVG drawing within a figure, and whether the current text is one. */
  #svgTexts: Array<string> | undefined
  #inSvgText = false
  #inTitle = false
  title = ""

  open(name: string, attributes: HtmlAttributes): void {
    const { out } = this
    if (this.#skipped > 0) {
      this.#skipped++
      this.#inSvgText = this.#svgTexts !== undefined && /^(?:text|tspan|title|desc)$/.test(name)
    } else if (name === "title") this.#inTitle = true
    else if (isHidden(attributes)) this.#skipped = 1
    else if (SKIPPED.has(name)) {
      this.#skipped = 1
      if (name === "svg" && this.#figures > 0) this.#svgTexts = []
    } else if (/^h[1-6]$/.test(name)) out.openHeading(Number(name[1]))
    else if (name === "br") out.newLine()
    else if (name === "img") writeImage(out, attributes, this.#figures > 0)
    else if (name === "pre") out.openPre()
    else if (name === "ul" || name === "ol" || name === "menu" || name === "dl") out.openList(name)
    else if (name === "li" || name === "dt" || name === "dd") out.openItem(name)
    else if (name === "table") out.openTable()
    else if (name === "tr") out.openRow()
    else if (name === "td" || name === "th") out.openCell(spanOf(attributes))
    else if (name === "figure") {
      this.#figures++
      out.openFigure()
    } else if (name === "figcaption" || name === "caption") out.openCaption()
    else if (BLOCKS.has(name)) out.breakBlock()
  }

  text(text: string): void {
    if (this.#svgTexts !== undefined && this.#inSvgText) this.#svgTexts.push(text)
    else if (this.#skipped > 0) return
    else if (this.#inTitle) this.title += text
    else this.out.write(text)
  }

  close(name: string): void {
    const { out } = this
    if (this.#skipped > 0) {
      this.#inSvgText = false
      if (--this.#skipped > 0 || this.#svgTexts === undefined) return
      const words = this.#svgTexts.map((text) => text.replace(/\s+/g, " ").trim()).filter(Boolean)
      out.picture({ reference: "", alternative: words.join(" "), name: "" })
      this.#svgTexts = undefined
    } else if (name === "title") this.#inTitle = false
    else if (/^h[1-6]$/.test(name)) out.closeHeading()
    else if (name === "pre") out.closePre()
    else if (name === "ul" || name === "ol" || name === "menu" || name === "dl") out.closeList()
    else if (name === "table") out.closeTable()
    else if (name === "figure") {
      this.#figures--
      out.closeFigure()
    } else if (name === "figcaption" || name === "caption") out.closeCaption()
    else if (BLOCKS.has(name) && !/^(?:li|d[dt]|t[rdh])$/.test(name)) out.breakBlock()
  }
}

/**
 * Parses a page: headings, paragraphs, lists, tables (cells separated by ` | `), preformatted text and figures.
 *
 * **Details.** White space is collapsed and entities are decoded. Scripts, styles, navigation and hidden elements are left out.
 * A cell that spans rows is repeated in each of them. `title` is the `<title>`, otherwise the first heading of the highest
 * level, otherwise empty. Elements that are nested too deep end the text, with a fault.
 */
export const parseHtml = (html: string): ParsedDraft => {
  const reader = new HtmlReader()
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++reader.depth > MAX_DEPTH) parser.pause()
        else reader.open(name, attributes)
      },
      ontext: (text) => reader.text(text),
      onclosetag(name) {
        reader.depth--
        reader.close(name)
      }
    },
    { decodeEntities: true }
  )
  parser.write(html)
  const isTooDeep = reader.depth > MAX_DEPTH
  if (!isTooDeep) parser.end()
  const { blocks, text } = reader.out.finish()
  const message = `Elements are nested more than ${MAX_DEPTH} deep: the text after that was not read. Save the page again.`
  const title = reader.title.replace(/\s+/g, " ").trim() || topHeading(blocks)
  return withFigures({ format: "html", title, text, faults: isTooDeep ? [{ message }] : [] }, blocks)
}

export const htmlFormat: DocumentFormat = {
  id: "html",
  label: "HTML",
  extensions: ["html", "htm", "xhtml"],
  mediaTypes: ["text/html; charset=utf-8"],
  showsPictures: true,
  parse: Effect.fnUntraced(function* (file) {
    const text = yield* decodeFile(file, "HTML", declaredCharset(file.bytes))
    return yield* loadPictures(parseHtml(text), file.picture)
  })
}
