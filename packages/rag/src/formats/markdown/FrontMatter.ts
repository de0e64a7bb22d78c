/** The front matter of Markdown: YAML between lines of dashes, or TOML between lines of plus signs. */

const FRONT_MATTER =
  /^(?:---[ \t]*\r?\n(?:[\s\S]*?\r?\n)?(?:---|\.\.\.)|\+\+\+[ \t]*\r?\n(?:[\s\S]*?\r?\n)?\+\+\+)[ \t]*(?:\r?\n|$)/

export const frontMatterOf = (text: string): string => FRONT_MATTER.exec(text)?.[0] ?? ""

export const withoutFrontMatter = (text: string): string => text.slice(frontMatterOf(text).length)
