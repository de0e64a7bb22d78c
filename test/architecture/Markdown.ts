/** Links, anchors and code spans of a Markdown file. */
import { readFileSync } from "node:fs"
import MarkdownIt from "markdown-it"

const markdown = new MarkdownIt({ html: true })

/** A link, an image or a code span. */
export interface Mention {
  readonly target: string
  readonly line: number
}

export interface MarkdownFile {
  readonly links: ReadonlyArray<Mention>
  readonly anchors: ReadonlySet<string>
  readonly codeSpans: ReadonlyArray<Mention>
}

/** The anchor that GitHub gives a heading. */
const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\- ]/gu, "")
    .replaceAll(" ", "-")

export const readMarkdown = (path: string): MarkdownFile => {
  const tokens = markdown.parse(readFileSync(path, "utf8"), {})
  const links: Array<Mention> = []
  const codeSpans: Array<Mention> = []
  const anchors = new Set<string>()
  let line = 1
  for (const [at, token] of tokens.entries()) {
    // Tokens of a table's cells have no line of their own: they are on the line of the last token that has one.
    if (token.map) line = token.map[0] + 1
    for (const inner of [token, ...(token.children ?? [])]) {
      const target = inner.attrGet("href") ?? inner.attrGet("src")
      if (target !== null) links.push({ target: String(target), line })
      if (inner.type === "code_inline") codeSpans.push({ target: inner.content, line })
      if (inner.type.startsWith("html")) {
        for (const [, found] of inner.content.matchAll(/(?:href|src|srcset)="([^"]+)"/g)) {
          if (found !== undefined) links.push({ target: found, line })
        }
      }
    }
    if (token.type === "heading_open")
      anchors.add(slug(tokens[at + 1]?.content.replaceAll(/[`*]/g, "") ?? ""))
  }
  return { links, anchors, codeSpans }
}
