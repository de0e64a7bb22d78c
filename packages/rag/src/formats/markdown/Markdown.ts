/** Markdown to blocks; every offset points into the file itself. */
import { Effect } from "effect"
import MarkdownIt from "markdown-it"
import type { Block } from "../../document/Document.ts"
import { type ParsedDraft, withFigures } from "../parsing/Captions.ts"
import type { DocumentFormat } from "../parsing/DocumentFormat.ts"
import { type DraftBlock, MAX_LIST_LENGTH } from "../parsing/DraftBlock.ts"
import { blockSpan, lineStarts } from "../parsing/LineSpans.ts"
import { loadPictures } from "../parsing/Pictures.ts"
import { decodeFile, rejectHtml } from "../parsing/TextDecoding.ts"
import { definitionsOf, htmlFigure, pictureBlocks, rowsAt, withoutData } from "./MarkdownFigures.ts"

// Block rules only: inline parsing is most of the cost, and only headings need it.
// `reference` would swallow link definitions without a token: as paragraphs they stay findable.
const markdown = new MarkdownIt({ html: true }).disable("reference")

type Token = ReturnType<typeof markdown.parse>[number]

const FRONT_MATTER = /^---[ \t]*\r?\n(?:[\s\S]*?\r?\n)?(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/

const KINDS: Record<string, Block["kind"]> = {
  heading_open: "heading",
  paragraph_open: "paragraph",
  blockquote_open: "paragraph",
  html_block: "paragraph",
  bullet_list_open: "list",
  ordered_list_open: "list",
  table_open: "table",
  fence: "code",
  code_block: "code"
}

/** A heading's text without its markup. */
const plain = (source: string): string =>
  /[*_`~<&\\![]/.test(source)
    ? (markdown.parseInline(source, {})[0]?.children ?? [])
        .map((token) =>
          token.type === "softbreak" ? " " : token.type === "html_inline" ? "" : token.content
        )
        .join("")
        .trim()
    : source.replace(/\s+/g, " ").trim()

/** `title:` of the front matter, when there is one. */
const frontMatterTitle = (frontMatter: string): string | undefined =>
  /^title:[ \t]*(["']?)(.+?)\1[ \t]*\r?$/m.exec(frontMatter)?.[2]

/** Front matter that says more than that says enough. */
const ABOUT_CHARACTERS = 600

/** The rest of it, as it stands there. */
const aboutOf = (frontMatter: string): string =>
  frontMatter
    .replace(/^(?:---|\.\.\.|title:.*)[ \t]*\r?$/gm, "")
    .trim()
    .slice(0, ABOUT_CHARACTERS)

/** Items of the list that opens at `index`, as line ranges. */
const itemLines = (tokens: ReadonlyArray<Token>, index: number): Array<readonly [number, number]> => {
  const items: Array<readonly [number, number]> = []
  for (let i = index + 1; i < tokens.length && tokens[i]!.level > 0; i++) {
    const token = tokens[i]!
    if (token.type === "list_item_open" && token.level === 1 && token.map !== null) items.push(token.map)
  }
  return items
}

/**
 * Headings, paragraphs, lists, tables, code and figures of a Markdown text (CommonMark and tables).
 *
 * Every non-blank character belongs to one block, except front matter, thematic breaks and HTML comments. A paragraph of
 * pictures, with their caption or without, is a figure. The text is the file's, but for the data of data URIs.
 * `title` is the front matter's, else the first heading's, highest level first; empty when there is none.
 */
export const parseMarkdown = (file: string): ParsedDraft => {
  const { data, text } = withoutData(file)
  const frontMatter = FRONT_MATTER.exec(text)?.[0] ?? ""
  const starts = lineStarts(text, frontMatter.length)
  const body = text.slice(frontMatter.length)
  const tokens: Array<Token> = []
  // The same two steps that markdown-it's own `normalize` takes; neither changes the number of lines
  const source = /[\r\0]/.test(body) ? body.replace(/\r\n?/g, "\n").replaceAll("\0", "\uFFFD") : body
  markdown.block.parse(source, markdown, {}, tokens)

  const blocks: Array<DraftBlock> = []
  const references = definitionsOf(markdown, text)
  let title = frontMatterTitle(frontMatter)
  let titleLevel = title === undefined ? 7 : 0
  tokens.forEach((token, index) => {
    const kind = token.level === 0 && token.map !== null ? KINDS[token.type] : undefined
    if (kind === undefined || token.map === null) return
    const span = blockSpan(text, starts, token.map)
    if (span === undefined) return
    if (kind === "heading") {
      const level = Number(token.tag.slice(1))
      const heading = plain(tokens[index + 1]?.content ?? "")
      if (level < titleLevel && heading !== "") {
        title = heading
        titleLevel = level
      }
      blocks.push({ ...span, kind, level, heading })
    } else if (kind === "list" && span.end - span.start > MAX_LIST_LENGTH) {
      for (const lines of itemLines(tokens, index)) {
        const item = blockSpan(text, starts, lines)
        if (item !== undefined) blocks.push({ ...item, kind })
      }
    } else if (kind === "table") {
      blocks.push({ ...span, kind, figure: { rows: rowsAt(tokens, index, plain), pictures: [] } })
    } else if (token.type === "paragraph_open") {
      blocks.push(...(pictureBlocks(markdown, text, span, references) ?? [{ ...span, kind }]))
    } else if (
      token.type !== "html_block" ||
      !/^<!--[\s\S]*-->$/.test(text.slice(span.start, span.end).trim())
    ) {
      blocks.push((token.type === "html_block" ? htmlFigure(text, span) : undefined) ?? { ...span, kind })
    }
  })
  const about = aboutOf(frontMatter)
  const read = withFigures(
    {
      format: "markdown",
      title: title ?? "",
      ...(about === "" ? {} : { about }),
      text,
      pages: [],
      lines: [],
      faults: []
    },
    blocks
  )
  const whole = (reference: string): string => data.get(reference) ?? reference
  return { ...read, pictures: read.pictures.map((it) => ({ ...it, reference: whole(it.reference) })) }
}

export const markdownFormat: DocumentFormat = {
  id: "markdown",
  label: "Markdown",
  extensions: ["md", "markdown", "mdown", "mkd", "mdx"],
  mediaTypes: ["text/markdown; charset=utf-8"],
  showsPictures: true,
  parse: Effect.fnUntraced(function* (file) {
    const text = yield* decodeFile(file, "Markdown")
    yield* rejectHtml(file.path, "Markdown", text)
    return yield* loadPictures(parseMarkdown(text), file.picture)
  })
}
