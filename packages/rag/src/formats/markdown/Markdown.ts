/** Parses Markdown. Offsets refer to the file itself. */
import { Effect } from "effect"
import MarkdownIt from "markdown-it"
import type { Block } from "../../document/Document.ts"
import { type ParsedDraft, withFigures } from "../parsing/Captions.ts"
import type { DocumentFormat } from "../parsing/DocumentFormat.ts"
import { type DraftBlock, MAX_LIST_LENGTH, topHeading } from "../parsing/DraftBlock.ts"
import { readWithFaults, tooLarge } from "../parsing/FormatFault.ts"
import { blockSpan, lineStarts } from "../parsing/LineSpans.ts"
import { loadPictures } from "../parsing/Pictures.ts"
import { decodeFile, rejectHtml } from "../parsing/TextDecoding.ts"
import { frontMatterOf } from "./FrontMatter.ts"
import { parseRendered } from "./RenderedMarkdown.ts"
import { withoutTemplates } from "./TemplateMarkup.ts"
import { definitionsOf, htmlFigure, pictureBlocks, rowsAt, withoutData } from "./MarkdownFigures.ts"

// Only block rules run: inline parsing is most of the cost, and only headings need it.
// The `reference` rule would drop link definitions: as paragraphs they can be found.
const markdown = new MarkdownIt({ html: true }).disable("reference")

type Token = ReturnType<typeof markdown.parse>[number]

/** Paragraphs, headings and list items of a file. A million take half a gigabyte while it is parsed. */
const MAX_PARTS = 1_000_000

/**
 * Keeps the tokens that blocks are made of: not the ends and contents of paragraphs, nor what lists and quotes contain
 * besides their items. A file of short lines has ten million others.
 */
class BlockTokens extends Array<Token> {
  #inTable = false
  #parts = 0
  override push(token: Token): number {
    const { level, type } = token
    if (level === 0) this.#inTable = type === "table_open"
    const last = this.at(-1)?.type
    const isKept =
      this.#inTable ||
      (level === 0 && !/^(?!table).*_close$/.test(type)) ||
      (level === 1 && (type === "list_item_open" || last === "heading_open"))
    if (isKept && !this.#inTable && ++this.#parts > MAX_PARTS) {
      throw tooLarge(`it has more than ${MAX_PARTS.toLocaleString("en-US")} paragraphs and items`)
    }
    return isKept ? super.push(token) : this.length
  }
}

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

/** Text without its inline markup. */
const plain = (source: string): string =>
  /[*_`~<&\\![]/.test(source)
    ? (markdown.parseInline(source, {})[0]?.children ?? [])
        .map((token) =>
          token.type === "softbreak" ? " " : token.type === "html_inline" ? "" : token.content
        )
        .join("")
        .trim()
    : source.replace(/\s+/g, " ").trim()

/** Whether HTML is more than a comment, or tags without text. */
const hasText = (html: string): boolean =>
  !/^<!--[\s\S]*-->$/.test(html) && html.replace(/<[^<>]*>/g, "").trim() !== ""

/** `title:` or `title =` in the front matter. */
const TITLE = /^title(?::|[ \t]*=)[ \t]*(?![ \t])(?:(["'])(.{1,1000}?)\1|(.{0,999}?\S))[ \t]*\r?$/m

/** Characters kept of the front matter. */
const MAX_ABOUT = 600

/** The front matter without its title, as it is written. */
const aboutOf = (frontMatter: string): string =>
  frontMatter
    .replace(/^(?:---|\+\+\+|\.\.\.|title(?::|[ \t]*=).*)[ \t]*\r?$/gm, "")
    .trim()
    .slice(0, MAX_ABOUT)

/** The line ranges of the items of the list that opens at `index`. */
const itemLines = (tokens: ReadonlyArray<Token>, index: number): Array<readonly [number, number]> => {
  const items: Array<readonly [number, number]> = []
  for (let i = index + 1; i < tokens.length && tokens[i]!.level > 0; i++) {
    const token = tokens[i]!
    if (token.type === "list_item_open" && token.level === 1 && token.map !== null) items.push(token.map)
  }
  return items
}

/**
 * Parses CommonMark and tables.
 *
 * **Details.** Every nonblank character is in one block, except front matter, thematic breaks, HTML comments and tags without text. A paragraph of
 * pictures is a figure, with or without a caption. The text is that of the file without the Base64 of data URIs and without
 * template markup (see `withoutTemplates`). `title` is
 * the front matter's, otherwise the first heading of the highest level, otherwise empty.
 *
 * **Gotchas.** It throws a `FormatFault` for a file of more than a million paragraphs and items.
 */
export const parseMarkdown = (file: string): ParsedDraft => {
  const { data, text: whole } = withoutData(file)
  const frontMatter = frontMatterOf(whole)
  const body = withoutTemplates(whole.slice(frontMatter.length))
  const text = frontMatter + body
  const starts = lineStarts(text, frontMatter.length)
  const tokens = new BlockTokens()
  // As markdown-it's `normalize` does. Neither changes the number of lines
  const source = /[\r\0]/.test(body) ? body.replace(/\r\n?/g, "\n").replaceAll("\0", "\uFFFD") : body
  markdown.block.parse(source, markdown, {}, tokens)

  const blocks: Array<DraftBlock> = []
  const references = definitionsOf(markdown, text)
  tokens.forEach((token, index) => {
    const kind = token.level === 0 && token.map !== null ? KINDS[token.type] : undefined
    if (kind === undefined || token.map === null) return
    const span = blockSpan(text, starts, token.map)
    if (span === undefined) return
    if (kind === "heading") {
      const level = Number(token.tag.slice(1))
      const heading = plain(tokens[index + 1]?.content ?? "")
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
    } else {
      const figure = token.type === "html_block" ? htmlFigure(text, span) : undefined
      if (figure !== undefined) blocks.push(figure)
      else if (token.type !== "html_block" || hasText(text.slice(span.start, span.end).trim()))
        blocks.push({ ...span, kind })
    }
  })
  const [, , quoted, unquoted] = TITLE.exec(frontMatter) ?? []
  const title = quoted ?? unquoted ?? topHeading(blocks)
  const about = aboutOf(frontMatter)
  const parsed = withFigures({ format: "markdown", title, text, ...(about === "" ? {} : { about }) }, blocks)
  const pictures = parsed.pictures.map(({ figure, reference }) => ({
    figure,
    reference: data.get(reference) ?? reference
  }))
  return { ...parsed, pictures }
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
    const parsed = yield* readWithFaults(file.path, async () => parseMarkdown(text))
    return yield* loadPictures(parsed, file.picture)
  }),
  parseWithoutMarkup: Effect.fnUntraced(function* (file) {
    const text = yield* decodeFile(file, "Markdown")
    return yield* loadPictures(parseRendered(text), file.picture)
  })
}
