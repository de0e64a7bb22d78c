/** Writes the numbers of a workbook as its cells show them: dates, percents, currencies, decimals. */
import { findAll, type XmlElement } from "../container/Xml.ts"

/** Built-in formats by their number. 27 to 36 and 50 to 58 are dates of East Asia. */
const BUILT_IN: Readonly<Record<number, string>> = {
  1: "0",
  2: "0.00",
  3: "#,##0",
  4: "#,##0.00",
  9: "0%",
  10: "0.00%",
  14: "yyyy-mm-dd",
  15: "d-mmm-yy",
  16: "d-mmm",
  17: "mmm-yy",
  18: "h:mm",
  19: "h:mm:ss",
  20: "h:mm",
  21: "h:mm:ss",
  22: "yyyy-mm-dd h:mm",
  37: "#,##0",
  38: "#,##0",
  39: "#,##0.00",
  40: "#,##0.00",
  45: "mm:ss",
  46: "[h]:mm:ss",
  47: "mm:ss"
}
const isEastAsianDate = (id: number): boolean => (id >= 27 && id <= 36) || (id >= 50 && id <= 58)

/** Day 0, so that day 60 and later are right: Excel has a 29 February 1900. */
const EPOCH = Date.UTC(1899, 11, 30)
const DAYS_TO_1904 = 1_462
/** Days of the year 10000, the last that Excel has. */
const MAX_DAYS = 2_958_466

/** `2026-05-03`, `2026-05-03 14:30`, or `14:30` for a time without a day. */
const dateText = (days: number): string => {
  if (days < 0 || days >= MAX_DAYS) return String(days)
  const iso = new Date(EPOCH + Math.round(days * 86_400) * 1_000).toISOString()
  const time = iso.slice(11, 19).replace(/:00$/, "")
  return days < 1 ? time : days % 1 === 0 ? iso.slice(0, 10) : `${iso.slice(0, 10)} ${time}`
}

const general = (value: number): string => String(Number(value.toPrecision(15)))

const SECONDS: Readonly<Record<string, number>> = { h: 3_600, m: 60, s: 1 }

/** `30:00` for 1.25 days as `[h]:mm`: the first unit is in brackets, and is not limited by a larger one. */
const durationText = (days: number, format: string): string => {
  if (Math.abs(days) >= MAX_DAYS) return String(days)
  const seconds = Math.round(Math.abs(days) * 86_400)
  const text = format.replace(/\.0+/g, "").replace(/\[?([hms])\1*\]?/gi, (unit, letter: string) => {
    const size = SECONDS[letter.toLowerCase()]!
    const count = Math.floor(seconds / size)
    const shown = unit.startsWith("[") ? count : count % (size === 3_600 ? 24 : 60)
    return String(shown).padStart(unit.replace(/[[\]]/g, "").length, "0")
  })
  return `${days < 0 ? "-" : ""}${text.trim()}`
}

/** Characters of a format. Excel's limit. */
const MAX_CODE = 255

type Format = (value: number) => string

/** Quoted text, an escaped character, a currency with its locale, a condition or colour, and padding. */
const LITERAL = /"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[(?!(?:h+|m+|s+)\])[^\]]*\]|[_*]./gi
/** What stands for a literal, so that its letters are not read as signs. */
const MASK = '"'

/** The function that writes numbers by a format such as `[$€-407] #,##0.00`. Only the section for positive numbers counts. */
const formatOf = (code: string, is1904: boolean): Format => {
  const literals: Array<string> = []
  const masked = code.replace(LITERAL, (_, ...groups: ReadonlyArray<string | undefined>) => {
    const literal = groups.slice(0, 3).find((group) => group !== undefined)
    if (literal === undefined) return ""
    literals.push(literal)
    return MASK
  })
  const [section = ""] = masked.split(";")
  const unmask = (text: string): string => {
    let at = 0
    return text.replaceAll(MASK, () => literals[at++] ?? "")
  }
  if (/\[[hms]+\]/i.test(section)) return (value) => unmask(durationText(value, section))
  if (/[dmyhs]/i.test(section)) return (value) => dateText(is1904 ? value + DAYS_TO_1904 : value)
  const [, before = "", digits, after = ""] = /^([^0#?.,E/]*)([0#?.,]+)([^0#?E/]*)$/.exec(section) ?? []
  if (digits === undefined) return general
  const [whole = "", fraction = ""] = digits.replace(/(?<!,),+$/, "").split(".")
  const number = new Intl.NumberFormat("en-US", {
    minimumFractionDigits: Math.min(20, fraction.lastIndexOf("0") + 1),
    maximumFractionDigits: Math.min(20, fraction.length),
    useGrouping: /,[0#?]/.test(whole)
  })
  // Each comma after the last digit of a part divides by 1,000.
  const thousands = digits.match(/(?<!,),+(?=\.|$)/g)?.join("").length ?? 0
  const scale = (section.includes("%") ? 100 : 1) / 1_000 ** thousands
  return (value) => unmask(`${before}${number.format(value * scale)}${after}`).trim()
}

/** The number formats of a workbook by the style of a cell. */
export const numberFormats = (
  styles: XmlElement,
  is1904: boolean
): ((style: string | undefined) => Format) => {
  const codes = new Map(
    findAll(styles, ["s:numFmt"]).map(({ attributes }) => [
      attributes["numFmtId"],
      attributes["formatCode"]?.slice(0, MAX_CODE) ?? ""
    ])
  )
  const [cells] = findAll(styles, ["s:cellXfs"])
  const byStyle = (cells?.children ?? []).map(({ attributes }): Format => {
    const id = attributes["numFmtId"] ?? "0"
    const code = codes.get(id) ?? BUILT_IN[Number(id)] ?? (isEastAsianDate(Number(id)) ? "yyyy-mm-dd" : "")
    return code === "" || /^general$/i.test(code) ? general : formatOf(code, is1904)
  })
  return (style) => byStyle[Number(style ?? 0)] ?? general
}
