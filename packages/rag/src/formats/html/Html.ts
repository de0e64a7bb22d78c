/** HTML to the text that a reader sees, and its blocks. */
import { Effect } from "effect"
import { Parser } from "htmlparser2"
import { type ParsedDraft, withFigures } from "../parsing/Captions.ts"
import type { DocumentFormat } from "../parsing/DocumentFormat.ts"
import type { DraftBlock } from "../parsing/DraftBlock.ts"
import { BlockWriter } from "../parsing/BlockWriter.ts"
import { loadPictures } from "../parsing/Pictures.ts"
import { declaredCharset, decodeFile } from "../parsing/TextDecoding.ts"
import { isInline, nameOfReference, spanOf } from "./HtmlAttributes.ts"

/** What no reader sees, and what is no part of the text: scripts, navigation, forms' controls. */
const SKIPPED = new Set(
  "script style template noscript nav svg math iframe object canvas audio video button select textarea input datalist dialog".split(
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
/** Elements without an end. */
const VOID = new Set("area base br col embed hr img input link meta source track wbr".split(" "))

/** Browsers nest elements 512 deep at most. */
const DEEPEST = 2_000

const isHidden = (attributes: Readonly<Record<string, string>>): boolean =>
  attributes["hidden"] !== undefined ||
  attributes["aria-hidden"] === "true" ||
  attributes["role"] === "navigation" ||
  /display\s*:\s*none|visibility\s*:\s*hidden/i.test(attributes["style"] ?? "")

/** A picture goes into its figure; a small one into the line of text that it stands in; decoration nowhere. */
const openImage = (
  out: BlockWriter,
  attributes: Readonly<Record<string, string>>,
  inFigure: boolean
): void => {
  const alternative = (attributes["alt"] ?? "").replace(/\s+/g, " ").trim()
  const decoration = attributes["alt"] === "" || /^(?:presentation|none)$/.test(attributes["role"] ?? "")
  if (isInline(attributes)) {
    out.write(alternative)
    return
  }
  const reference = (attributes["src"] ?? attributes["data-src"] ?? "").trim()
  if (!inFigure && (decoration || (alternative === "" && /^(?:[a-z]+:)?\/\//i.test(reference)))) return
  out.picture({ reference, alternative, name: nameOfReference(reference) })
}

/** The first heading of the highest level; empty if there is none. */
const topHeading = (blocks: ReadonlyArray<DraftBlock>): string => {
  let level = 7
  let heading = ""
  for (const block of blocks) {
    if (block.kind === "heading" && block.level! < level && block.heading !== "") {
      level = block.level!
      heading = block.heading!
    }
  }
  return heading
}

/**
 * Headings, paragraphs, lists, tables (cells parted by ` | `) and preformatted text of a page, and its figures.
 *
 * Blank space is collapsed and entities are decoded; scripts, styles, navigation and hidden elements are left out.
 * A cell that spans rows stands in each of them. `title` is the page's `<title>`, else its first heading, highest level
 * first; empty when there is none. Elements nested deeper than any page has them end the reading, with a fault.
 */
export const parseHtml = (html: string): ParsedDraft => {
  const out = new BlockWriter()
  let depth = 0
  let skipped = 0
  let figures = 0
  /** Words of a drawing in the page's own code, within a figure. */
  let drawing: Array<string> | undefined
  let drawn = false
  let inTitle = false
  let title = ""

  const open = (name: string, attributes: Readonly<Record<string, string>>): void => {
    if (name === "title") inTitle = true
    else if (isHidden(attributes)) skipped = VOID.has(name) ? 0 : 1
    else if (SKIPPED.has(name)) {
      skipped = VOID.has(name) ? 0 : 1
      if (name === "svg" && figures > 0) drawing = []
    } else if (/^h[1-6]$/.test(name)) out.openHeading(Number(name[1]))
    else if (name === "br") out.newLine()
    else if (name === "img") openImage(out, attributes, figures > 0)
    else if (name === "pre") out.openPre()
    else if (name === "ul" || name === "ol" || name === "menu" || name === "dl") out.openList(name)
    else if (name === "li" || name === "dt" || name === "dd") out.openItem(name)
    else if (name === "table") out.openTable()
    else if (name === "tr") out.openRow()
    else if (name === "td" || name === "th") out.openCell(spanOf(attributes))
    else if (name === "figure") {
      figures++
      out.openFigure()
    } else if (name === "figcaption" || name === "caption") out.openCaption()
    else if (BLOCKS.has(name)) out.breakBlock()
  }

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > DEEPEST) parser.pause()
        else if (skipped === 0) open(name, attributes)
        else {
          if (!VOID.has(name)) skipped++
          drawn = drawing !== undefined && /^(?:text|tspan|title|desc)$/.test(name)
        }
      },
      ontext(text) {
        if (drawing !== undefined && drawn) drawing.push(text)
        else if (skipped > 0) return
        else if (inTitle) title += text
        else out.write(text)
      },
      onclosetag(name) {
        depth--
        if (skipped > 0) {
          if (!VOID.has(name)) skipped--
          drawn = false
          if (skipped === 0 && drawing !== undefined) {
            const words = drawing
              .map((text) => text.replace(/\s+/g, " ").trim())
              .filter((text) => text !== "")
            out.picture({ reference: "", alternative: words.join(" "), name: "" })
            drawing = undefined
          }
        } else if (name === "title") inTitle = false
        else if (/^h[1-6]$/.test(name)) out.closeHeading()
        else if (name === "pre") out.closePre()
        else if (name === "ul" || name === "ol" || name === "menu" || name === "dl") out.closeList()
        else if (name === "table") out.closeTable()
        else if (name === "figure") {
          figures--
          out.closeFigure()
        } else if (name === "figcaption" || name === "caption") out.closeCaption()
        else if (BLOCKS.has(name) && !/^(?:li|d[dt]|t[rdh])$/.test(name)) out.breakBlock()
      }
    },
    { decodeEntities: true }
  )
  parser.write(html)
  const tooDeep = depth > DEEPEST
  if (!tooDeep) parser.end()
  const { blocks, text } = out.finish()

  const faults = tooDeep
    ? [
        {
          message: `Elements are nested more than ${DEEPEST} deep: what follows was not read. Save the page anew.`
        }
      ]
    : []
  const pageTitle = title.replace(/\s+/g, " ").trim()
  return withFigures(
    {
      format: "html",
      title: pageTitle === "" ? topHeading(blocks) : pageTitle,
      text,
      pages: [],
      lines: [],
      faults
    },
    blocks
  )
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
