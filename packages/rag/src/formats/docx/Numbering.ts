/** Numbers of lists and headings, counted as Word counts them. */
import { findAll, readTree, valueAt, type XmlElement } from "../container/Xml.ts"

interface Level {
  readonly start: number
  readonly format: string
  /** The label's template: `%1.%2)`. */
  readonly text: string
  /** The level after which numbering restarts: 0 for never, Infinity for each. */
  readonly restart: number
}

/** A use of an abstract list. Uses of one list count together. */
interface Instance {
  readonly abstract: string
  readonly starts: ReadonlyMap<number, number>
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
  readonly #levels = new Map<string, ReadonlyMap<number, Level>>()
  readonly #instances = new Map<string, Instance>()
  readonly #counts = new Map<string, Array<number | undefined>>()
  readonly #started = new Set<string>()

  static async read(part: AsyncIterable<Uint8Array>): Promise<Numbering> {
    const numbering = new Numbering()
    const tree = await readTree(part)
    const at = ({ attributes }: XmlElement): number => Number(attributes["w:ilvl"])
    for (const { attributes, children } of findAll(tree, ["w:abstractNum"])) {
      const levels = children.filter(({ name }) => name === "w:lvl")
      numbering.#levels.set(
        attributes["w:abstractNumId"] ?? "",
        new Map(
          levels.map((level) => [
            at(level),
            {
              start: Number(valueAt(level, "w:start") ?? 1),
              format: valueAt(level, "w:numFmt") ?? "decimal",
              text: valueAt(level, "w:lvlText") ?? "",
              restart: Number(valueAt(level, "w:lvlRestart") ?? Infinity)
            }
          ])
        )
      )
    }
    // An instance's own levels are ignored
    for (const instance of findAll(tree, ["w:num"])) {
      const starts = instance.children.flatMap((own) => {
        const start = valueAt(own, "w:startOverride")
        return start === undefined ? [] : [[at(own), Number(start)] as const]
      })
      numbering.#instances.set(instance.attributes["w:numId"] ?? "", {
        abstract: valueAt(instance, "w:abstractNumId") ?? "",
        starts: new Map(starts)
      })
    }
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
      if (at < (levels.get(deeper)?.restart ?? Infinity)) counts[deeper] = undefined
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
