/** Parses Markdown to the text that a reader sees. For Markdown inside other files, whose text has no markup. */
import MarkdownIt from "markdown-it"
import { parseHtml } from "../html/Html.ts"
import type { ParsedDraft } from "../parsing/Captions.ts"
import { withoutFrontMatter } from "./FrontMatter.ts"
import { withoutTemplates } from "./TemplateMarkup.ts"

const markdown = new MarkdownIt({ html: true })

export const parseRendered = (source: string): ParsedDraft => ({
  ...parseHtml(markdown.render(withoutTemplates(withoutFrontMatter(source)))),
  format: "markdown"
})
