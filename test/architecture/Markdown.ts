/** The links of a Markdown file and the anchors it offers. */
import { readFileSync } from "node:fs"
import MarkdownIt from "markdown-it"

const markdown = new MarkdownIt({ html: true })

/** A link or picture of a document: where it points and on which line. */
export interface Link {
  readonly target: string
  readonly line: number
}

export interface MarkdownFile {
  readonly links: ReadonlyArray<Link>
  readonly anchors: ReadonlySet<string>
}

/** GitHub's anchor of a heading. */
const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\- ]/gu, "")
    .replaceAll(" ", "-")

export const readMarkdown = (path: string): MarkdownFile => {
  const tokens = markdown.parse(readFileSync(path, "utf8"), {})
  const links: Array<Link> = []
  const anchors = new Set<string>()
  for (const [at, token] of tokens.entries()) {
    const line = (token.map?.[0] ?? 0) + 1
    for (const inner of [token, ...(token.children ?? [])]) {
      const target = inner.attrGet("href") ?? inner.attrGet("src")
      if (target !== null) links.push({ target: String(target), line })
      if (inner.type.startsWith("html")) {
        for (const [, found] of inner.content.matchAll(/(?:href|src|srcset)="([^"]+)"/g)) {
          if (found !== undefined) links.push({ target: found, line })
        }
      }
    }
    if (token.type === "heading_open")
      anchors.add(slug(tokens[at + 1]?.content.replaceAll(/[`*]/g, "") ?? ""))
  }
  return { links, anchors }
}
