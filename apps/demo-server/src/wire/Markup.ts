/** A template for HTML and SVG that escapes its values. */

/** Trusted markup: inserted without escaping. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Markup | ReadonlyArray<Markup>

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

const render = (part: Part): string => {
  if (part instanceof Markup) return part.text
  if (typeof part === "number") return String(Number(part.toFixed(4)))
  if (typeof part === "string") return part.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign)
  return part.map(({ text }) => text).join("")
}

/** Escapes strings, inserts `Markup` unchanged, and rounds numbers to four decimals. */
export const markup = (strings: TemplateStringsArray, ...parts: ReadonlyArray<Part>): Markup =>
  new Markup(strings.reduce((all, string, i) => all + render(parts[i - 1] ?? "") + string))
