/** Finds pictures and tables in Markdown. */
import type MarkdownItClass from "markdown-it"
import type { Span } from "../../document/Document.ts"
import { labelOf } from "../parsing/Label.ts"
import type { DraftBlock, FigureContent, PictureDraft } from "../parsing/DraftBlock.ts"
import { parseHtml } from "../html/Html.ts"
import { nameOfReference } from "../html/HtmlAttributes.ts"

type MarkdownIt = InstanceType<typeof MarkdownItClass>
type Token = ReturnType<MarkdownIt["parse"]>[number]
type References = Record<string, { readonly href: string; readonly title: string }>

const DATA_URI = /data:image\/[\w.+-]+;base64,[A-Za-z0-9+/=]{100,}/g

/** Replaces the Base64 of long data URIs by a number. `data` maps the short URIs to the long ones. */
export const withoutData = (
  source: string
): { readonly text: string; readonly data: ReadonlyMap<string, string> } => {
  const data = new Map<string, string>()
  if (!source.includes(";base64,")) return { text: source, data }
  const text = source.replace(DATA_URI, (uri) => {
    const short = `${uri.slice(0, uri.indexOf(",") + 1)}#${data.size + 1}`
    data.set(short, uri)
    return short
  })
  return { text, data }
}

const DEFINITION =
  /^ {0,3}\[([^\]\n]{1,200})\]:[ \t]*<?([^\s>]+)>?(?:[ \t]+(?:"([^"\r\n]*)"|'([^'\r\n]*)'|\(([^)\r\n]*)\)))?[ \t]*$/gm

/** Link definitions, for pictures such as `![alternative][name]`. */
export const definitionsOf = (markdown: MarkdownIt, text: string): References => {
  const references: References = {}
  if (!text.includes("![")) return references
  for (const [, name = "", href = "", ...titles] of text.matchAll(DEFINITION)) {
    references[markdown.utils.normalizeReference(name)] ??= { href, title: titles.find(Boolean) ?? "" }
  }
  return references
}

const isRemote = (reference: string): boolean => /^(?:https?:)?\/\//i.test(reference)

const within = (text: string, { end, start }: Span, words: string, from = start): Span | undefined => {
  const at = words === "" ? -1 : text.indexOf(words, from)
  return at === -1 || at + words.length > end ? undefined : { start: at, end: at + words.length }
}

/**
 * The caption in a paragraph of pictures: text that starts with a label, or is all emphasized. Undefined if there is no text,
 * false if the text is not a caption.
 */
const captionIn = (text: string, span: Span, children: ReadonlyArray<Token>): Span | undefined | false => {
  let emphasis = 0
  let plain = ""
  let emphasised = ""
  let first = ""
  for (const { content, type } of children) {
    if (type === "em_open" || type === "strong_open") emphasis++
    else if (type === "em_close" || type === "strong_close") emphasis--
    else if (type === "text" || type === "code_inline") {
      if (first === "") first = content.trim()
      if (emphasis > 0) emphasised += content
      else plain += content
    } else if (
      type === "html_inline" &&
      !/^<(?:img|br|\/?a|\/?p|\/?div|\/?center|\/?sub|\/?sup)\b/i.test(content)
    )
      return false
  }
  if (first === "") return undefined
  const label = labelOf(plain.trim() + emphasised)
  if (label === undefined && plain.trim() !== "") return false
  const slice = text.slice(span.start, span.end)
  const after = Math.max(slice.lastIndexOf("!["), slice.search(/<img/i))
  const found = within(text, span, first, span.start + after) ?? within(text, span, first)
  if (found === undefined) return false
  const lineEnd = text.indexOf("![", found.end)
  return { start: found.start, end: lineEnd === -1 || lineEnd > span.end ? span.end : lineEnd }
}

/** The pictures and caption of a paragraph; undefined if it has other text, or no picture. */
const picturesOf = (
  markdown: MarkdownIt,
  text: string,
  span: Span,
  references: References
): FigureContent | undefined => {
  const source = text.slice(span.start, span.end)
  const children = markdown.parseInline(source, { references })[0]?.children ?? []
  const pictures: Array<PictureDraft> = []
  let title = ""
  let linked = 0
  for (const token of children) {
    if (token.type === "link_open") linked++
    else if (token.type === "link_close") linked--
    else if (token.type === "image") {
      const reference = String(token.attrGet("src") ?? "")
      // Skip badges
      if (linked > 0 && isRemote(reference)) continue
      title ||= String(token.attrGet("title") ?? "")
      pictures.push({ reference, alternative: token.content, name: nameOfReference(reference) })
    } else if (token.type === "html_inline" && /^<img\b/i.test(token.content)) {
      for (const { reference } of parseHtml(token.content).pictures) {
        pictures.push({ reference, alternative: "", name: nameOfReference(reference) })
      }
    }
  }
  const caption = pictures.length === 0 ? false : captionIn(text, span, children)
  if (caption === false) return undefined
  const alternative = pictures[0]?.alternative || undefined
  const label = title || (alternative !== undefined && labelOf(alternative) !== undefined ? alternative : "")
  return { pictures, alternative, caption: caption ?? within(text, span, label) }
}

/** A figure for a paragraph of pictures, or one for each of its lines; undefined for other paragraphs. */
export const pictureBlocks = (
  markdown: MarkdownIt,
  text: string,
  span: Span,
  references: References
): ReadonlyArray<DraftBlock> | undefined => {
  const source = text.slice(span.start, span.end)
  if (!source.includes("![") && !/<img\b/i.test(source)) return undefined
  const figure = picturesOf(markdown, text, span, references)
  if (figure === undefined) return undefined
  const lines = source.split("\n")
  if (lines.length > 1 && figure.pictures.length === lines.length && figure.caption === undefined) {
    const blocks: Array<DraftBlock> = []
    let at = span.start
    for (const line of lines) {
      const own = { start: at, end: at + line.trimEnd().length }
      const content = picturesOf(markdown, text, own, references)
      if (content === undefined) return [{ kind: "figure", ...span, figure }]
      blocks.push({ kind: "figure", ...own, figure: content })
      at += line.length + 1
    }
    return blocks
  }
  return [{ kind: "figure", ...span, figure }]
}

/** The figure of an HTML block with a picture or table. */
export const htmlFigure = (text: string, span: Span): DraftBlock | undefined => {
  const source = text.slice(span.start, span.end)
  if (!/<(?:img|table)\b/i.test(source)) return undefined
  const html = parseHtml(source)
  const [first] = html.figures
  if (first === undefined) return undefined
  const words = first.caption === undefined ? "" : html.text.slice(first.caption.start, first.caption.end)
  const pictures = html.pictures.map(({ reference }) => ({ reference, alternative: "", name: "" }))
  const kind = pictures.length > 0 ? "figure" : "table"
  const { alternative, rows } = first
  return { kind, ...span, figure: { pictures, alternative, rows, caption: within(text, span, words) } }
}

/** The rows of the table that opens at `index`. */
export const rowsAt = (
  tokens: ReadonlyArray<Token>,
  index: number,
  plain: (source: string) => string
): ReadonlyArray<ReadonlyArray<string>> => {
  const rows: Array<Array<string>> = []
  for (let i = index + 1; i < tokens.length && tokens[i]!.type !== "table_close"; i++) {
    const token = tokens[i]!
    if (token.type === "tr_open") rows.push([])
    else if (token.type === "inline") rows.at(-1)?.push(plain(token.content))
  }
  return rows
}
