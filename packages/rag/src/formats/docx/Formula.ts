/** Formulas (Office MathML) as one line of text: `a/(b+c)`, `x_1^2`, `√(x)`, `∑_(i=1)^n x_i`. */

interface Node {
  readonly name: string
  text: string
  readonly parts: Array<{ readonly name: string; readonly text: string }>
  /** Operators, brackets and separators that its properties state. */
  readonly signs: Record<string, string>
}

/** Adds brackets, unless the text is one sign, word or number. */
const bracketed = (text: string): string =>
  /^(?:[\p{L}\p{M}]+|[\p{N}.,]+|.)?$/u.test(text) ? text : `(${text})`

type Format = (
  part: (name: string) => string,
  script: (sign: "_" | "^", name: string) => string,
  node: Node
) => string

const FORMATS = new Map(
  Object.entries<Format>({
    "m:f": (part) => `${bracketed(part("num"))}/${bracketed(part("den"))}`,
    "m:sSup": (part, script) => bracketed(part("e")) + script("^", "sup"),
    "m:sSub": (part, script) => bracketed(part("e")) + script("_", "sub"),
    "m:sSubSup": (part, script) => bracketed(part("e")) + script("_", "sub") + script("^", "sup"),
    "m:sPre": (part, script) => script("_", "sub") + script("^", "sup") + part("e"),
    "m:rad": (part) =>
      part("deg") === "" ? `√${bracketed(part("e"))}` : `root(${part("deg")}, ${part("e")})`,
    "m:nary": (part, script, { signs }) =>
      `${signs["m:chr"] ?? "∫"}${script("_", "sub")}${script("^", "sup")} ${part("e")}`,
    "m:limLow": (part, script) => part("e") + script("_", "lim"),
    "m:limUpp": (part, script) => part("e") + script("^", "lim"),
    "m:func": (part) => `${part("fName")} ${bracketed(part("e"))}`,
    "m:d": (_part, _script, { parts, signs }) => {
      const inner = parts.map(({ text }) => text).join(` ${signs["m:sepChr"] ?? "|"} `)
      return `${signs["m:begChr"] ?? "("}${inner}${signs["m:endChr"] ?? ")"}`
    },
    "m:mr": (_part, _script, { parts }) => parts.map(({ text }) => text).join(", "),
    "m:m": (_part, _script, { parts }) => parts.map(({ text }) => text).join("; "),
    "m:eqArr": (_part, _script, { parts }) => parts.map(({ text }) => text).join("; ")
  })
)
const PARTS = new Set("num den e sup sub deg lim fName mr".split(" ").map((name) => `m:${name}`))

const textOf = (node: Node): string => {
  const format = FORMATS.get(node.name)
  if (format === undefined) return node.text
  const part = (wanted: string): string => node.parts.find(({ name }) => name === `m:${wanted}`)?.text ?? ""
  const script = (sign: "_" | "^", wanted: string): string =>
    part(wanted) === "" ? "" : sign + bracketed(part(wanted))
  return format(part, script, node)
}

/** Takes the elements of one formula. */
export class Formula {
  readonly #stack: Array<Node> = [{ name: "", text: "", parts: [], signs: {} }]

  open(name: string, value: string | undefined): void {
    if (FORMATS.has(name) || PARTS.has(name)) this.#stack.push({ name, text: "", parts: [], signs: {} })
    else if (value !== undefined && /^m:(?:chr|begChr|endChr|sepChr)$/.test(name)) {
      this.#stack.at(-1)!.signs[name] = value
    }
  }

  write(text: string): void {
    this.#stack.at(-1)!.text += text
  }

  close(name: string): void {
    if (this.#stack.length < 2 || this.#stack.at(-1)!.name !== name) return
    const text = textOf(this.#stack.pop()!)
    const outer = this.#stack.at(-1)!
    if (PARTS.has(name)) outer.parts.push({ name, text })
    else outer.text += text
  }

  finish(): string {
    while (this.#stack.length > 1) this.close(this.#stack.at(-1)!.name)
    // U+2061 to U+2064 are invisible operators
    return this.#stack[0]!.text.replace(/[\s\u2061-\u2064]+/g, " ").trim()
  }
}
