/** Which files are read, and as what. */
import type { Format } from "../../document/Document.ts"

/** Files larger than this (64 MiB) are refused before they are read: `parse` holds a file in memory. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024

const MARKDOWN = ["md", "markdown", "mdown", "mkd", "mdx"]
const HTML = ["html", "htm", "xhtml"]
const PROSE = ["txt", "text", "rst", "adoc", "asciidoc", "org", "tex", "me"]
const IMAGE = ["png", "jpg", "jpeg", "webp"]
const TABULAR = ["csv", "tsv"]
const CODE = (
  "log json jsonl ndjson yaml yml toml ini cfg conf properties env xml sql graphql proto " +
  "ts tsx mts cts js jsx mjs cjs py rb rs go java kt kts scala swift c h cc cpp cxx hpp cs php pl lua r jl hs ml " +
  "ex exs erl clj el lisp vue svelte css scss less sh bash zsh fish ps1 bat tf dockerfile makefile cmake gradle diff patch"
).split(" ")

/** Names without an ending that everybody knows to be text. */
const NAMES =
  /^(readme|licen[cs]e|copying|notice|authors|contributors|changelog|changes|history|news|install|todo|contributing)$/i
const CODE_NAMES = /^(makefile|dockerfile|gemfile|rakefile|justfile|procfile|\.gitignore|\.editorconfig)$/i

/** How a plain text file is laid out: prose in paragraphs, or something whose lines must stay whole. */
export type TextKind = "paragraph" | "code" | "table"

const endings = new Map<string, readonly [Format, TextKind]>([
  ...MARKDOWN.map((ending) => [ending, ["markdown", "paragraph"]] as const),
  ...HTML.map((ending) => [ending, ["html", "paragraph"]] as const),
  ...PROSE.map((ending) => [ending, ["text", "paragraph"]] as const),
  ...TABULAR.map((ending) => [ending, ["text", "table"]] as const),
  ...CODE.map((ending) => [ending, ["text", "code"]] as const),
  ...IMAGE.map((ending) => [ending, ["image", "paragraph"]] as const),
  ["pdf", ["pdf", "paragraph"]],
  ["docx", ["docx", "paragraph"]]
])

const baseName = (path: string): string =>
  path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1)

/** The ending in lower case without its dot; empty when there is none. */
export const endingOf = (path: string): string => {
  const name = baseName(path)
  const dot = name.lastIndexOf(".")
  return dot <= 0 ? "" : name.slice(dot + 1).toLowerCase()
}

const lookUp = (path: string): readonly [Format, TextKind] | undefined => {
  const name = baseName(path)
  if (CODE_NAMES.test(name)) return ["text", "code"]
  if (NAMES.test(name)) return ["text", "paragraph"]
  return endings.get(endingOf(path))
}

/** The format that a file's name promises, or `undefined` when such files are not read. Looks at the name only. */
export const formatOf = (path: string): Format | undefined => lookUp(path)?.[0]

/** How a plain text file is laid out, by its name. */
export const textKindOf = (path: string): TextKind => lookUp(path)?.[1] ?? "paragraph"

/** The file's name without folders and ending: the title of last resort. */
export const titleFromPath = (path: string): string => {
  const name = baseName(path)
  const dot = name.lastIndexOf(".")
  const stem = dot <= 0 ? name : name.slice(0, dot)
  return stem.replace(/[_-]+/g, " ").trim() || name
}

const has = (bytes: Uint8Array, signature: string, at = 0): boolean => {
  for (let i = 0; i < signature.length; i++) {
    if (bytes[at + i] !== signature.charCodeAt(i)) return false
  }
  return true
}

/** What the first bytes of a Word document say, which is all that they say of any ZIP archive. */
export const ZIP = "a ZIP archive or an Office document"
/** … and of a document of older programs, or an encrypted one. */
export const OLD_OFFICE = "an old Office document"

/** The header of a PDF stands at its beginning; readers accept it anywhere in the first kilobyte, where texts may speak of it. */
const PDF_HEADER = /^(?:\xEF\xBB\xBF)?\s*%PDF-|[\0-\x08]%PDF-\d/
const NAMED_PDF_HEADER = /%PDF-/

/** What the first bytes of a file named so say it is: `"PDF"`, `"a PNG image"` …, or `undefined` when they say nothing (text). */
export const sniff = (bytes: Uint8Array, format: Format | undefined): string | undefined => {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 1024))
  if ((format === "pdf" ? NAMED_PDF_HEADER : PDF_HEADER).test(head)) return "PDF"
  if (has(bytes, "PK\x03\x04")) return ZIP
  if (has(bytes, "\xD0\xCF\x11\xE0")) return OLD_OFFICE
  if (has(bytes, "\x89PNG")) return "a PNG image"
  if (has(bytes, "\xFF\xD8\xFF")) return "a JPEG image"
  if (has(bytes, "GIF8")) return "a GIF image"
  if (has(bytes, "RIFF") && has(bytes, "WEBP", 8)) return "a WebP image"
  if (has(bytes, "BM") && has(bytes, "\0\0\0\0", 6)) return "a BMP image"
  if (has(bytes, "II*\0") || has(bytes, "MM\0*")) return "a TIFF image"
  if (has(bytes, "\x1F\x8B")) return "a gzip archive"
  if (has(bytes, "7z\xBC\xAF")) return "a 7-Zip archive"
  if (has(bytes, "\x7FELF")) return "a program"
  if (has(bytes, "{\\rtf")) return "an RTF document"
  return undefined
}

/** What the first bytes of each format say; text says nothing. */
export const signatureOf = (format: Format): RegExp | undefined =>
  format === "pdf"
    ? /^PDF$/
    : format === "docx"
      ? /^a ZIP/
      : format === "image"
        ? /^a (?:PNG|JPEG|WebP) image$/
        : undefined

/** Whether a text begins as an HTML page does. */
export const looksLikeHtml = (text: string): boolean =>
  /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]{0,2000}?-->\s*)?<(?:!doctype\s+html|html[\s>])/i.test(
    text.slice(0, 4096)
  )
