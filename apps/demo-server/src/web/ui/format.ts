/** Numbers, sizes, times and amounts as text. */
import { formatQuota, type Quota, UNITS_PER_USD } from "@sluice/core/contract"
import type { PassageFigure, ServerStatus } from "../../contract/index.ts"

/** `3 passages`, `1 passage`: the number is grouped as in the reader's language. */
export const pluralize = (count: number, noun: string): string =>
  `${count.toLocaleString()} ${noun}${count === 1 ? "" : "s"}`

const BYTE_UNITS = ["B", "kB", "MB", "GB"] as const

/** `840 B`, `12 kB`, `3.4 MB`: decimal units, as in file managers. */
export const byteSize = (bytes: number): string => {
  const power = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const value = bytes / 1000 ** power
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${BYTE_UNITS[power]}`
}

/** `1.2 s`, `34 ms`, `0.5 ms`: two significant digits. */
export const duration = (milliseconds: number): string =>
  milliseconds >= 1000
    ? `${(milliseconds / 1000).toFixed(1)} s`
    : `${milliseconds >= 10 ? Math.round(milliseconds) : milliseconds.toFixed(1)} ms`

/** A day, from seconds since 1970. */
export const dayOf = (seconds: number): string =>
  new Date(seconds * 1000).toLocaleDateString(undefined, { dateStyle: "medium" })

/** `$1.50`, exact: a quota unit is 0.000002 USD. */
export const usd = (units: number): string => formatQuota(units as Quota)

/** Parses an amount such as `2.50` to quota units. Undefined if it is not an amount or not a whole number of units. */
export const parseUsd = (text: string): number | undefined => {
  const amount = text.trim().replace(/^\$/, "")
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(amount)) return undefined
  const exact = Number(amount) * UNITS_PER_USD
  const whole = Math.round(exact)
  return Math.abs(exact - whole) < 1e-3 ? whole : undefined
}

/** A format's label, from the formats that the server serves; its identifier while they are unknown. */
export const formatLabel = (id: string, formats: ServerStatus["formats"] = []): string =>
  formats.find((format) => format.id === id)?.label ?? id

/** Whether a text contains every word of a search. */
export const matchesSearch = (text: string, search: string): boolean =>
  search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.toLowerCase().includes(word))

/** `Figure 3`, `Table IV`; `Figure` without a number. */
export const figureLabel = ({ kind, number }: Pick<PassageFigure, "kind" | "number">): string =>
  [kind === "table" ? "Table" : "Figure", number].filter(Boolean).join(" ")

/** The caption without its label, which is shown before it: `Figure 3: Ways of the water` as `Ways of the water`. */
export const captionText = ({ caption, number = "" }: Pick<PassageFigure, "caption" | "number">): string => {
  const label = /^\p{L}+\.?\s*/u.exec(caption)?.[0] + number
  const rest = caption.slice(label.length)
  const hasLabel = number !== "" && caption.startsWith(label) && !/^[\p{L}\p{N}]/u.test(rest)
  return hasLabel ? rest.replace(/^[.:\s–—-]+/, "") : caption
}

/** The place of a passage or citation in its document. */
interface Place {
  readonly headings: ReadonlyArray<string>
  readonly page?: number | undefined
  readonly locator?: string | undefined
}

/** `Handbook › Leave › Parental leave, p. 4` or `…, slide 7`. A heading that repeats the title is left out. */
export const locationText = (title: string | undefined, { headings, locator, page }: Place): string => {
  const path = [title, ...headings.filter((heading) => heading !== title)].filter(Boolean).join(" › ")
  return [path, locator ?? (page && `p. ${page}`)].filter(Boolean).join(", ")
}
