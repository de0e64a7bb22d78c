/** HTML to the text that a reader sees, and its blocks. */
import { Parser } from "htmlparser2"
import type { Parsed } from "../Document.ts"
import { HtmlText } from "./HtmlText.ts"

/** What no reader sees, and what is no part of the text: scripts, navigation, forms' controls. */
const SKIPPED = new Set(
  "script style template noscript nav svg math iframe object canvas audio video button select textarea input datalist dialog".split(
    " "
  )
)
/** Elements that begin and end a paragraph. */
const BLOCKS = new Set(
  (
    "address article aside body blockquote caption center dd details dialog div dl dt fieldset figcaption figure footer form " +
    "header hgroup hr html legend li main menu ol p pre search section summary table tbody td tfoot th thead tr ul"
  ).split(" ")
)
/** Elements without an end. */
const VOID = new Set("area base br col embed hr img input link meta source track wbr".split(" "))

const isHidden = (attributes: Readonly<Record<string, string>>): boolean =>
  attributes["hidden"] !== undefined ||
  attributes["aria-hidden"] === "true" ||
  attributes["role"] === "navigation" ||
  /display\s*:\s*none|visibility\s*:\s*hidden/i.test(attributes["style"] ?? "")

/**
 * Headings, paragraphs, lists, tables (cells parted by ` | `) and preformatted text of a page.
 *
 * Blank space is collapsed and entities are decoded; scripts, styles, navigation and hidden elements are left out.
 * `title` is the page's `<title>`, else its first heading, highest level first; empty when there is none.
 */
export const parseHtml = (html: string): Parsed => {
  const out = new HtmlText()
  let skipped = 0
  let inTitle = false
  let title = ""

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (skipped > 0) {
          if (!VOID.has(name)) skipped++
          return
        }
        if (name === "title") inTitle = true
        else if (SKIPPED.has(name) || isHidden(attributes)) skipped = VOID.has(name) ? 0 : 1
        else if (/^h[1-6]$/.test(name)) out.openHeading(Number(name[1]))
        else if (name === "br") out.newLine()
        else if (name === "pre") out.openPre()
        else if (name === "ul" || name === "ol" || name === "menu" || name === "dl") out.openList(name)
        else if (name === "li" || name === "dt" || name === "dd") out.openItem(name)
        else if (name === "table") out.openTable()
        else if (name === "tr") out.openRow()
        else if (name === "td" || name === "th") out.openCell()
        else if (BLOCKS.has(name)) out.breakBlock()
      },
      ontext(text) {
        if (skipped > 0) return
        if (inTitle) title += text
        else out.write(text)
      },
      onclosetag(name) {
        if (skipped > 0) {
          if (!VOID.has(name)) skipped--
          return
        }
        if (name === "title") inTitle = false
        else if (/^h[1-6]$/.test(name)) out.closeHeading()
        else if (name === "pre") out.closePre()
        else if (name === "ul" || name === "ol" || name === "menu" || name === "dl") out.closeList()
        else if (name === "table") out.closeTable()
        else if (BLOCKS.has(name) && !/^(?:li|d[dt]|t[rdh])$/.test(name)) out.breakBlock()
      }
    },
    { decodeEntities: true }
  )
  parser.end(html)
  const { blocks, text } = out.finish()

  let level = 7
  let heading = ""
  for (const block of blocks) {
    if (block.kind === "heading" && block.level! < level && block.heading !== "") {
      level = block.level!
      heading = block.heading!
    }
  }
  const pageTitle = title.replace(/\s+/g, " ").trim()
  return {
    format: "html",
    title: pageTitle === "" ? heading : pageTitle,
    text,
    blocks,
    pages: [],
    lines: [],
    figures: [],
    faults: []
  }
}
