/** Formulas to one line of text: `a/(b+c)`, `x_1^2`, `√(x)`, `∑_(i=1)^n x_i`. */

interface Node {
  readonly name: string
  text: string
  /** What its parts say, in order. */
  readonly parts: Array<{ readonly name: string; readonly text: string }>
  readonly signs: Record<string, string>
}

/** In brackets unless it is one sign, word or number. */
const grouped = (text: string): string =>
  /^(?:[\p{L}\p{M}]+|[\p{N}.,]+|.)?$/u.test(text) ? text : `(${text})`

const linear = ({ name, parts, signs, text }: Node): string => {
  const part = (wanted: string): string => parts.find((part) => part.name === wanted)?.text ?? ""
  const script = (sign: "_" | "^", wanted: string): string =>
    part(wanted) === "" ? "" : sign + grouped(part(wanted))
  switch (name) {
    case "m:f":
      return `${grouped(part("m:num"))}/${grouped(part("m:den"))}`
    case "m:sSup":
      return grouped(part("m:e")) + script("^", "m:sup")
    case "m:sSub":
      return grouped(part("m:e")) + script("_", "m:sub")
    case "m:sSubSup":
      return grouped(part("m:e")) + script("_", "m:sub") + script("^", "m:sup")
    case "m:sPre":
      return script("_", "m:sub") + script("^", "m:sup") + part("m:e")
    case "m:rad":
      return part("m:deg") === "" ? `√${grouped(part("m:e"))}` : `root(${part("m:deg")}, ${part("m:e")})`
    case "m:nary":
      return `${signs["m:chr"] ?? "∫"}${script("_", "m:sub")}${script("^", "m:sup")} ${part("m:e")}`
    case "m:limLow":
      return part("m:e") + script("_", "m:lim")
    case "m:limUpp":
      return part("m:e") + script("^", "m:lim")
    case "m:func":
      return `${part("m:fName")} ${grouped(part("m:e"))}`
    case "m:d": {
      const inner = parts.map((part) => part.text).join(` ${signs["m:sepChr"] ?? "|"} `)
      return `${signs["m:begChr"] ?? "("}${inner}${signs["m:endChr"] ?? ")"}`
    }
    case "m:mr":
      return parts.map((part) => part.text).join(", ")
    case "m:m":
    case "m:eqArr":
      return parts.map((part) => part.text).join("; ")
    default:
      return text
  }
}

const STRUCTURES = new Set(
  "f sSup sSub sSubSup sPre rad nary limLow limUpp func d mr m eqArr".split(" ").map((name) => `m:${name}`)
)
const PARTS = new Set("num den e sup sub deg lim fName mr".split(" ").map((name) => `m:${name}`))

/** Fed with the elements of one formula. */
export class Formula {
  readonly #stack: Array<Node> = [{ name: "", text: "", parts: [], signs: {} }]

  open(name: string, value: string | undefined): void {
    if (STRUCTURES.has(name) || PARTS.has(name)) this.#stack.push({ name, text: "", parts: [], signs: {} })
    else if (value !== undefined && /^m:(?:chr|begChr|endChr|sepChr)$/.test(name)) {
      this.#stack.at(-1)!.signs[name] = value
    }
  }

  write(text: string): void {
    this.#stack.at(-1)!.text += text
  }

  close(name: string): void {
    if (this.#stack.length < 2 || this.#stack.at(-1)!.name !== name) return
    const node = this.#stack.pop()!
    const text = STRUCTURES.has(name) ? linear(node) : node.text
    const above = this.#stack.at(-1)!
    if (PARTS.has(name)) above.parts.push({ name, text })
    else above.text += text
  }

  finish(): string {
    while (this.#stack.length > 1) this.close(this.#stack.at(-1)!.name)
    // Invisible signs of application, multiplication and the like
    return this.#stack[0]!.text.replace(/[\s\u2061-\u2064]+/g, " ").trim()
  }
}
