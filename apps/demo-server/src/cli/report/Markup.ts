/** HTML and SVG as text: what comes from outside is escaped where it is put in. */

/** Markup that may be put in as it is. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Markup | ReadonlyArray<Markup>

const SPECIAL: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

const textOf = (part: Part): string => {
  if (part instanceof Markup) return part.text
  if (typeof part === "number") return String(Number(part.toFixed(4)))
  if (typeof part === "string") return part.replaceAll(/[&<>"']/g, (sign) => SPECIAL[sign] ?? sign)
  return part.map(({ text }) => text).join("")
}

/** A template whose values are escaped, but for markup; numbers have four decimals at most. */
export const markup = (strings: TemplateStringsArray, ...parts: ReadonlyArray<Part>): Markup =>
  new Markup(strings.reduce((all, string, i) => all + textOf(parts[i - 1] ?? "") + string))
