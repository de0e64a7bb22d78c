/**
 * Reads JSON as models write it: trailing commas, single or unescaped quotation marks, missing brackets, cut-off ends.
 *
 * Packages such as jsonrepair repair a whole text. This reads the value at the beginning of a text that still grows, and says
 * where it ends.
 */

export type LenientValue =
  | string
  | number
  | boolean
  | null
  | ReadonlyArray<LenientValue>
  | { readonly [name: string]: LenientValue }

const CLOSING: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ["“", "”"],
  ["„", "“"],
  ["‘", "’"]
])

const ESCAPED: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["b", "\b"],
  ["f", "\f"]
])

/** Characters after a quotation mark that decide whether it ends the text. */
const LOOKAHEAD = 80

/** The name of a field and its colon. */
const NAME = String.raw`["'“‘][^"'”’\n]{1,40}["'”’]\s*:`

/** The same, as far as it is there. */
const NAME_SO_FAR = String.raw`["'“‘][^"'”’\n]{0,40}(?:["'”’]\s*)?$`

/** What follows the quotation mark that ends a text. */
const AFTER = {
  name: /^\s*:/,
  field: new RegExp(
    String.raw`^\s*(?:$|[}\]]|,\s*(?:$|\}|\w+\s*:|${NAME}|${NAME_SO_FAR}|\{\s*["'“])|${NAME}|\{\s*["'“])`
  ),
  item: /^\s*(?:$|[\]}]|,\s*(?:$|["'“‘[\]{}]|-?\d|true|false|null))/
} as const

/** A line break after which a text cannot go on: its quotation mark is missing. */
const UNCLOSED = new RegExp(String.raw`^\n\s*(?:[}\]]|,?\s*${NAME}|\{\s*["'“])`)

/** Two fields of sentences, so that a text without its end does not hide its citations. */
const NEXT_FIELD = /^,\s*["'](?:citations|sources|evidence|passage|quote)["']\s*:/

const LITERALS: ReadonlyMap<string, LenientValue> = new Map<string, LenientValue>([
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  ["null", null],
  ["None", null]
])

/** Deeper brackets are not read. */
const MAX_DEPTH = 32

class LenientReader {
  at = 0
  isComplete = true
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  private skip(characters: RegExp): void {
    characters.lastIndex = this.at
    this.at += characters.exec(this.text)?.[0].length ?? 0
  }

  private next(pattern: RegExp, offset = 0): boolean {
    return pattern.test(this.text.slice(this.at + offset, this.at + offset + LOOKAHEAD))
  }

  /** Whether a text ends here without its quotation mark. */
  private isUnclosed(character: string, role: keyof typeof AFTER): boolean {
    if (role === "name") return character === "\n"
    if (role === "item") return false
    return (character === "\n" && this.next(UNCLOSED)) || (character === "," && this.next(NEXT_FIELD))
  }

  private quoted(close: string, role: keyof typeof AFTER): string {
    let read = ""
    for (let character = this.text[this.at]; character !== undefined; character = this.text[this.at]) {
      if (character === close && this.next(AFTER[role], 1)) {
        this.at++
        return read
      }
      if (this.isUnclosed(character, role)) return read
      if (character === "\\") read += this.escaped()
      else {
        read += character
        this.at++
      }
    }
    this.isComplete = false
    return read
  }

  /** A backslash that escapes nothing, such as one of LaTeX, is kept. */
  private escaped(): string {
    const code = /^\\u([\da-f]{4})/i.exec(this.text.slice(this.at, this.at + 6))?.[1]
    const escape = this.text[this.at + 1] ?? ""
    this.at += code === undefined ? 2 : 6
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
    return ESCAPED.get(escape) ?? (/[\p{P}\p{S}]/u.test(escape) ? escape : `\\${escape}`)
  }

  private bare(): LenientValue {
    const word = /^[^,}\]\n]*/.exec(this.text.slice(this.at, this.at + LOOKAHEAD))![0]
    this.at += Math.max(1, word.length)
    if (this.at >= this.text.length) this.isComplete = false
    const trimmed = word.trim()
    const number = Number(trimmed)
    const literal = LITERALS.get(trimmed)
    if (literal !== undefined) return literal
    return trimmed !== "" && Number.isFinite(number) ? number : trimmed
  }

  value(role: "field" | "item", depth: number): LenientValue {
    const character = this.text[this.at] ?? ""
    const close = CLOSING.get(character)
    if (close !== undefined) {
      this.at++
      return this.quoted(close, role)
    }
    if (depth < MAX_DEPTH && character === "{") return this.object(depth + 1)
    if (depth < MAX_DEPTH && character === "[") return this.list(depth + 1)
    return this.bare()
  }

  private name(): string {
    const close = CLOSING.get(this.text[this.at] ?? "")
    if (close === undefined) {
      const word = /^[^:{}[\],\n]*/.exec(this.text.slice(this.at, this.at + LOOKAHEAD))![0]
      this.at += word.length
      return word.trim()
    }
    this.at++
    return this.quoted(close, "name")
  }

  private object(depth: number): LenientValue {
    const fields: Record<string, LenientValue> = Object.create(null)
    this.at++
    for (;;) {
      this.skip(/[\s,]*/y)
      const character = this.text[this.at]
      if (character === undefined) break
      if (character === "}") this.at++
      // With another bracket, that one is missing: the object ends here.
      if (character === "}" || character === "]" || character === "{") return fields
      const before = this.at
      const field = this.name()
      this.skip(/\s*:?\s*/y)
      if (this.at < this.text.length) fields[field] = this.value("field", depth)
      if (this.at === before) this.at++
    }
    this.isComplete = false
    return fields
  }

  private list(depth: number): LenientValue {
    const items: Array<LenientValue> = []
    this.at++
    for (;;) {
      this.skip(/[\s,]*/y)
      const character = this.text[this.at]
      if (character === undefined) break
      if (character === "]") this.at++
      if (character === "]" || character === "}") return items
      items.push(this.value("item", depth))
    }
    this.isComplete = false
    return items
  }
}

/**
 * The value at the beginning of a text, and where it ends. `isComplete` is false if the text ends within it: the value then
 * has what was read.
 */
export const readLenientJson = (
  text: string
): { readonly value: LenientValue; readonly end: number; readonly isComplete: boolean } => {
  const reader = new LenientReader(text)
  const value = reader.value("field", 0)
  return { value, end: reader.at, isComplete: reader.isComplete }
}
