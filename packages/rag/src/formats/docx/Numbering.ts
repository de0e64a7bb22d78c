/** Numbers of lists and headings, counted as Word counts them. */
import { readXml } from "./Xml.ts"

interface Level {
  start: number
  format: string
  /** The label's template: `%1.%2)`. */
  text: string
  /** The level after which numbering restarts; 0 for never. */
  restart?: number
}

/** A use of an abstract list. Uses of one list count together. */
interface Instance {
  abstract: string
  readonly starts: Map<number, number>
}

const ROMAN_VALUES = [1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1]
const ROMAN_SIGNS = "m cm d cd c xc l xl x ix v iv i".split(" ")

const roman = (n: number): string => {
  let left = Math.min(n, 4_999)
  let text = ""
  for (const [i, value] of ROMAN_VALUES.entries()) for (; left >= value; left -= value) text += ROMAN_SIGNS[i]
  return text
}

/** a … z, aa, bb … */
const letter = (n: number): string =>
  String.fromCharCode(97 + ((n - 1) % 26)).repeat(Math.min(10, Math.ceil(n / 26)))

const HAN = "〇一二三四五六七八九"
const han = (n: number): string => {
  if (n >= 100) return [...String(n)].map((digit) => HAN[Number(digit)]).join("")
  const tens = Math.floor(n / 10)
  return `${tens > 1 ? HAN[tens] : ""}${tens > 0 ? "十" : ""}${n % 10 > 0 ? HAN[n % 10] : ""}`
}

/** Other formats are decimal. */
const FORMATS = new Map<string, (n: number) => string>(
  Object.entries({
    lowerLetter: letter,
    upperLetter: (n) => letter(n).toUpperCase(),
    lowerRoman: roman,
    upperRoman: (n) => roman(n).toUpperCase(),
    decimalZero: (n) => String(n).padStart(2, "0"),
    chineseCounting: han,
    chineseCountingThousand: han,
    japaneseCounting: han,
    taiwaneseCountingThousand: han,
    ideographDigital: han,
    koreanCounting: han,
    none: () => ""
  })
)

const formatNumber = (n: number, format: string): string =>
  n < 1 ? String(n) : (FORMATS.get(format) ?? String)(n)

/** The lists of a document. */
export class Numbering {
  readonly #levels = new Map<string, Map<number, Level>>()
  readonly #instances = new Map<string, Instance>()
  readonly #counts = new Map<string, Array<number | undefined>>()
  readonly #started = new Set<string>()

  static async read(part: AsyncIterable<Uint8Array>): Promise<Numbering> {
    const numbering = new Numbering()
    let levels: Map<number, Level> | undefined
    let level: Level | undefined
    let instance: Instance | undefined
    let overridden = 0
    await readXml(part, {
      open(name, attributes) {
        const value = attributes["w:val"] ?? ""
        if (name === "w:abstractNum") {
          levels = new Map()
          numbering.#levels.set(attributes["w:abstractNumId"] ?? "", levels)
        } else if (name === "w:lvl") {
          level = { start: 1, format: "decimal", text: "" }
          // An instance's own levels are ignored
          levels?.set(Number(attributes["w:ilvl"]), level)
        } else if (name === "w:num") {
          levels = undefined
          instance = { abstract: "", starts: new Map() }
          numbering.#instances.set(attributes["w:numId"] ?? "", instance)
        } else if (name === "w:abstractNumId" && instance !== undefined) instance.abstract = value
        else if (name === "w:lvlOverride") overridden = Number(attributes["w:ilvl"])
        else if (name === "w:startOverride") instance?.starts.set(overridden, Number(value))
        else if (level === undefined) return
        else if (name === "w:start") level.start = Number(value)
        else if (name === "w:numFmt") level.format = value
        else if (name === "w:lvlText") level.text = value
        else if (name === "w:lvlRestart") level.restart = Number(value)
      },
      close(name) {
        if (name === "w:lvl") level = undefined
        if (name === "w:num") instance = undefined
      }
    })
    return numbering
  }

  /** The label of the list's next item at a level, 0 to 8; undefined for a bullet and for an unknown list. */
  next(id: string, at: number): string | undefined {
    const instance = this.#instances.get(id)
    const levels = this.#levels.get(instance?.abstract ?? "")
    const level = levels?.get(at)
    if (instance === undefined || levels === undefined || level === undefined || at > 8) return undefined
    const counts = this.#counts.get(instance.abstract) ?? []
    this.#counts.set(instance.abstract, counts)
    if (!this.#started.has(id)) {
      this.#started.add(id)
      for (const [place, start] of instance.starts) counts[place] = start - 1
    }
    counts[at] = (counts[at] ?? level.start - 1) + 1
    for (let deeper = at + 1; deeper < counts.length; deeper++) {
      const { restart } = levels.get(deeper) ?? {}
      if (restart === undefined || (restart > 0 && at < restart)) counts[deeper] = undefined
    }
    if (level.format === "bullet") return undefined
    const label = level.text.replace(/%([1-9])/g, (_, digit: string) => {
      const place = Number(digit) - 1
      const other = levels.get(place)
      return formatNumber(counts[place] ?? other?.start ?? 1, other?.format ?? "decimal")
    })
    return label.trim() === "" ? undefined : label.trim()
  }
}
