/**
 * Cuts out what programs around Markdown add to it, and no reader sees: shortcodes of Hugo, tags of Liquid and MDX,
 * attributes, the marks of footnotes and admonitions. Code is left as it is.
 */

const FENCE = /^\s*(?:>\s?)*(`{3,}|~{3,})/

/** A code span, or a tag of one line. `$1` is a shortcode, `$2` the name of a footnote, `$3` a link of Obsidian. */
const INLINE = new RegExp(
  [
    "`[^`]*`",
    String.raw`\{\{([<%][^{}]{0,1000}[>%])\}\}`,
    String.raw`\{%[^{}]{0,1000}%\}`,
    // Not LaTeX, which has a command or a sign before
    String.raw`(?<![\\\w^_}$])\{\{[-~]?\s[\w.][^{}\\$]{0,300}\}\}`,
    String.raw`\{\/\*[^{}]{0,1000}\*\/\}`,
    String.raw`</[A-Z][\w.]{0,60}\s?>`,
    // Not a type such as List<String>
    String.raw`(?<!\w)<[A-Z][\w.]{0,60}(?:\s[^<>]{0,1000})?/?>`,
    String.raw`(?<!\w)<[A-Z][\w.]{0,60}\s(?:[^<>={}]|=\s*(?:"[^"]{0,500}"|\{[^{}]{0,500}\}))*/?>`,
    String.raw`\[\^([^\]\s]{1,60})\]:?`,
    String.raw`(?<![\w%])%%[^%]{1,1000}%%`,
    String.raw`(?<![\w\])])!?\[\[(?=[\p{L}#])([^[\]]{1,300})\]\](?![([:])`,
    String.raw`(?<=[)\]])\{ ?(?:[#.:]|[\w-]{1,30}=)[^{}]{1,200}\}`,
    String.raw`(?<!\\)\{:[^{}]{0,200}\}`,
    String.raw`(?<!\S)\{ ?[#.][^{}]{1,200}\}(?=\s*$)`
  ].join("|"),
  "gu"
)

/** Opening marks of `INLINE`, looked for first: most lines have none. */
const OPENS = /[{[<]|%%/

const MODULE =
  /^(?:import\s(?:[^"']{0,300}\sfrom\s+)?["'][^"']{1,300}["'];?|export\s+(?:const|let|default|function|async)\b.*)\s*$/
/** The first line of an import, or of an export, that ends with a line that closes it. */
const MODULE_OPEN =
  /^(?:import\s*\{|import\s.{0,100}[{,]|export\s+(?:const|let|default|function|async)\b.*[([{])\s*$/
const CONTAINER =
  /^(\s*):{3,}(?!:)\s*(?!\s)(?:\{?[\w-]{1,40}(?:\}|(?![\w-]))\s*(?!\s))?(?:\[([^\]]{0,200})\]|([^{}]{0,200}?))\s*(?:\{[^{}]{0,200}\}\s*)?$/
const ADMONITION =
  /^(\s*)(?:(?:!!!|\?\?\?\+?)\s+[a-z][\w-]{0,40}(?: [a-z][\w-]{0,40}){0,3}|===\+?(?=\s+"))\s*(?:"([^"]{0,200})")?\s*$/
const ALERT = /^(\s*>\s?)\[!\w{1,20}\][+-]?/
const FOOTNOTE = /^ {0,3}\[\^([^\]\s]{1,60})\]:/gm
const CONTENTS = /^\s*\[{1,2}_?toc_?\]{1,2}\s*$/i

const attributeOf = (shortcode: string, name: string): string | undefined =>
  new RegExp(`\\s${name}\\s*=\\s*"([^"]{0,500})"`).exec(shortcode)?.[1]

/** The picture of a `figure` shortcode. */
const pictureOf = (shortcode = ""): string => {
  const reference = /^[<%]\s*figure\s/.test(shortcode) ? attributeOf(shortcode, "src") : undefined
  if (reference === undefined) return ""
  const words = ["caption", "title", "alt"].map((name) => attributeOf(shortcode, name)).find(Boolean) ?? ""
  return `![${words.replace(/[[\]]/g, "")}](<${reference}>)`
}

const IMAGE = /\.(?:png|jpe?g|webp)$/i

/** The picture, or the words, of a link such as `[[Fees|the fees]]`. */
const linkOf = (link: string, isEmbedded: boolean): string => {
  const [target = "", words] = link.split("|")
  return isEmbedded && IMAGE.test(target) ? `![](<${target}>)` : (words ?? target)
}

/** What is left of a tag: code, the picture of a shortcode, the name of a component in a line of text. */
const keptOf = (found: string, shortcode: string | undefined, line: string): string => {
  if (found.startsWith("`")) return found
  const component = found.length < line.trim().length && /^<([A-Z][\w.]*)\s?\/>$/.exec(found)
  return component ? component[1]! : pictureOf(shortcode)
}

const cutInline = (line: string, footnotes: ReadonlySet<string>): string =>
  OPENS.test(line)
    ? line.replace(INLINE, (found: string, shortcode?: string, footnote?: string, link?: string) =>
        link !== undefined
          ? linkOf(link, found.startsWith("!"))
          : footnote !== undefined && !footnotes.has(footnote)
            ? found
            : keptOf(found, shortcode, line)
      )
    : line

/** Lines that a tag may span. */
const MAX_TAG_LINES = 20
const OPEN_TAG = /\{\{[<%](?![^{}]*[>%]\}\})|\{%(?![^{}]*%\})|<[A-Z][\w.]{0,60}(?:\s[^<>]{0,500})?$/
const TAG_END = /[>%]\}\}|%\}|>/

/** The text without blank lines in its HTML tables, which would end the table. */
const joinTables = (text: string): string => {
  const pieces: Array<string> = []
  const opens = /^[ \t]*<table\b/gim
  let at = 0
  for (let open = opens.exec(text); open !== null; open = opens.exec(text)) {
    const end = text.indexOf("</table>", open.index)
    if (end === -1) break
    pieces.push(text.slice(at, open.index), text.slice(open.index, end).replace(/\n(?:[ \t]*\r?\n)+/g, "\n"))
    at = opens.lastIndex = end
  }
  return at === 0 ? text : pieces.join("") + text.slice(at)
}

export const withoutTemplates = (text: string): string => {
  if (
    !/\{|\[[[^!]|%%|^[ \t]*(?::::|!!!|\?\?\?|===)|<[A-Z]|<table|\btoc_?\]|^(?:import|export)\s/im.test(text)
  )
    return text
  const lines = joinTables(text).split("\n")
  const footnotes = new Set(Array.from(text.matchAll(FOOTNOTE), ([, name = ""]) => name))
  const kept: Array<string> = []
  let fence: string | undefined
  /** The indentation of an open admonition's text, which would be code. */
  let indentation = 0
  for (let i = 0; i < lines.length; i++) {
    let line = lines[i]!
    if (indentation > 0 && line.trim() !== "") {
      if (/^\s*/.exec(line)![0].length >= indentation) line = line.slice(4)
      else indentation = 0
    }
    const mark = FENCE.exec(line)?.[1]
    if (fence !== undefined) {
      if (mark?.startsWith(fence) === true) fence = undefined
      kept.push(line)
      continue
    }
    if (mark !== undefined) fence = mark
    const isCode = mark !== undefined || (indentation === 0 && /^(?: {4}|\t)/.test(line))
    if (isCode) {
      kept.push(line)
      continue
    }
    if (MODULE_OPEN.test(line) && (kept.at(-1) ?? "").trim() === "") {
      const end = lines.findIndex((next, at) => at > i && /^[)}\]]/.test(next))
      if (end !== -1) {
        i = end
        kept.push("")
        continue
      }
    }
    if (OPEN_TAG.test(line)) {
      const end = lines.slice(i + 1, i + MAX_TAG_LINES).findIndex((next) => TAG_END.test(next))
      if (end !== -1) {
        line = lines.slice(i, i + end + 2).join(" ")
        i += end + 1
      }
    }
    const admonition = ADMONITION.exec(line)
    const container = CONTAINER.exec(line)
    if (admonition !== null) {
      indentation = admonition[1]!.length + 4
      line = admonition[1]! + (admonition[2] ?? "")
    } else if (container !== null) line = container[1]! + (container[2] ?? container[3] ?? "")
    else if (CONTENTS.test(line) || (MODULE.test(line) && (kept.at(-1) ?? "").trim() === "")) line = ""
    else line = cutInline(line.replace(ALERT, "$1"), footnotes)
    kept.push(line)
  }
  return kept.join("\n")
}
