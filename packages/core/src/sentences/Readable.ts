/** Makes source text readable. */

const CJK = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}，。！？；：、（）《》「」“”"
const BETWEEN_CJK = new RegExp(`(?<=[${CJK}])[^\\S\\n]*\\n\\s*(?=[${CJK}])`, "gu")

const LINK = String.raw`\[([^[\]]*)\](?:\((?:[^()\s]|\([^()\s]*\))*(?:\s+"[^"]*")?\)|\[[^[\]]*\])`
const IMAGES = new RegExp(`!${LINK}`, "g")
const LINKS = new RegExp(LINK, "g")

/** Removes Markdown marks. Matches are bounded, so that a text of only opening marks takes no longer. */
const withoutProseMarks = (text: string): string =>
  text
    .replace(IMAGES, "$1")
    .replace(LINKS, "$1")
    .replace(/<((?:https?|mailto):[^<>\s]+)>/g, "$1")
    .replace(/<\/?[a-zA-Z][^<>]*>/g, "")
    .replace(/(?<![*\\])(\*{1,3}(?!\*)|~~)(?=\S)(.{1,500}?)(?<=\S)\1/gs, "$2")
    .replace(/(?<![\p{L}\p{N}_])(_{1,3})(?=\S)(.{1,500}?)(?<=\S)\1(?![\p{L}\p{N}_])/gsu, "$2")
    .replace(/^\*{1,3}(?=\S)|(?<=\S)\*{2,3}$/g, "")
    .replace(/\\([\\`*_{}[\]()#+\-.!|<>~])/g, "$1")

const withoutMarks = (source: string): string =>
  source
    .replace(/\n\s*(?:>\s?)*/g, " ")
    .split(/(?<!`)(`{1,3})(?!`)(.{1,500}?)(?<!`)\1(?!`)/gs)
    .map((piece, i) => (i % 3 === 0 ? withoutProseMarks(piece) : i % 3 === 2 ? piece.trim() : ""))
    .join("")

/**
 * The text in one line. Words hyphenated at line ends are joined. Markdown marks are removed: of code the words remain, of
 * links the text. Plain text is not changed otherwise.
 */
export const readable = (source: string, format?: string): string => {
  const joined =
    format === "text"
      ? source
      : source.replace(/(\p{Ll})[-\u00AD]\n\s*(?=\p{Ll})/gu, "$1").replace(BETWEEN_CJK, "")
  return (format === "markdown" ? withoutMarks(joined) : joined).replace(/\s+/g, " ").trim()
}

/** The cells of a table row, empty ones among them. One cell of plain text, whose bars may be anything. */
export const readableCells = (source: string, format?: string): ReadonlyArray<string> =>
  format === "text"
    ? [readable(source, format)]
    : source
        .replace(/-\n/g, "-")
        .split(/(?<!\\)\|/)
        .map((cell) => readable(cell, format))

/** The cells of a row as one text. */
export const rowText = (cells: ReadonlyArray<string>): string =>
  cells.filter((cell) => cell !== "").join(" · ")
