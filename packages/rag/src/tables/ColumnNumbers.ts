/** The numbers of a column, exact: whole numbers with a common count of decimals. */

/** A cell's number is `scaled / 10 ** decimals`. */
export interface ColumnNumbers {
  /** Undefined for empty cells. */
  readonly scaled: ReadonlyArray<bigint | undefined>
  readonly decimals: number
  /** Written before and behind each number: `$`, `crowns`. */
  readonly prefix: string
  readonly suffix: string
}

const CELL = /^([^\d+\-−.,]*)([+\-−]?\d[\d.,\s]*)([^\d]*)$/u
const EMPTY = /^(?:|-|–|—|n\/a)$/i

/** Characters of a number with its unit. All numbers are filled up to the most decimals. */
const MAX_CELL = 80

/** Undefined if a cell is no number, if their units differ, or if it is unsure what a separator means. */
export const columnNumbers = (cells: ReadonlyArray<string>): ColumnNumbers | undefined => {
  if (cells.some((cell) => cell.length > MAX_CELL)) return undefined
  const parts = cells.map((cell) => (EMPTY.test(cell.trim()) ? null : CELL.exec(cell.trim())))
  const filled = parts.filter((part) => part !== null)
  const [first] = filled
  if (first === undefined || cells.some((cell, i) => parts[i] === null && !EMPTY.test(cell.trim())))
    return undefined
  const [prefix = "", suffix = ""] = [first[1]?.trim(), first[3]?.trim()]
  if (filled.some((part) => part[1]?.trim() !== prefix || part[3]?.trim() !== suffix)) return undefined
  const texts = filled.map((part) => part[2]!.replace(/\s/g, "").replace("−", "-"))
  const decimal = decimalSign(texts)
  if (decimal === undefined) return undefined
  const plain = texts.map((text) => text.replaceAll(decimal === "." ? "," : ".", "").replace(decimal, "."))
  if (plain.some((text) => !/^[+-]?\d+(?:\.\d+)?$/.test(text))) return undefined
  const decimals = Math.max(...plain.map((text) => (text.split(".")[1] ?? "").length))
  const numbers = plain.map((text) => {
    const [whole = "", part = ""] = text.split(".")
    return BigInt(whole + part.padEnd(decimals, "0"))
  })
  let at = 0
  return {
    scaled: parts.map((part) => (part === null ? undefined : numbers[at++])),
    decimals,
    prefix,
    suffix
  }
}

/** The sign before the decimals. “1.234” alone may be both. */
const decimalSign = (texts: ReadonlyArray<string>): "." | "," | undefined => {
  const isThousands = (text: string, sign: string) =>
    text
      .split(sign)
      .slice(1)
      .every((part) => /^\d{3}(?!\d)/.test(part))
  const commas = texts.filter((text) => text.includes(","))
  const dots = texts.filter((text) => text.includes("."))
  const [commaThousands, dotThousands] = [
    commas.every((text) => isThousands(text, ",")),
    dots.every((text) => isThousands(text, "."))
  ]
  if (commas.length > 0 && !commaThousands) return dotThousands ? "," : undefined
  return dots.length > 0 && commas.length === 0 && dotThousands ? undefined : "."
}

/** A number as digits, with the column's unit. */
export const formatNumber = (scaled: bigint, { decimals, prefix, suffix }: ColumnNumbers): string => {
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(decimals + 1, "0")
  const at = digits.length - decimals
  const number = `${scaled < 0n ? "-" : ""}${digits.slice(0, at)}${decimals > 0 ? `.${digits.slice(at)}` : ""}`
  return `${prefix}${number}${suffix === "" ? "" : /^\p{L}/u.test(suffix) ? ` ${suffix}` : suffix}`
}
