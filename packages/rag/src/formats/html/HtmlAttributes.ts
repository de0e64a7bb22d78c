/** Reads the attributes of HTML pictures and table cells. */
import { titleFromPath } from "../parsing/FileName.ts"
import type { CellSpan } from "../parsing/TableGrid.ts"

export type HtmlAttributes = Readonly<Record<string, string>>

/** A picture that is not wider or not higher than this is part of a line of text. */
const MAX_INLINE_PIXELS = 32

const pixels = (attributes: HtmlAttributes, name: string): number => {
  const own = Number.parseFloat(attributes[name] ?? "")
  if (Number.isFinite(own) && !/%|em|ex/.test(attributes[name] ?? "")) return own
  const styled = new RegExp(`(?:^|[;\\s])${name}\\s*:\\s*([\\d.]+)px`, "i")
  return Number(styled.exec(attributes["style"] ?? "")?.[1])
}

/** Whether a picture is part of a line of text: a formula, an icon, an emoji. */
export const isInline = (attributes: HtmlAttributes): boolean =>
  /(?:^|[\s_-])(?:emoji|emoticon|icon|math|latex|tex)(?:$|[\s_-])/i.test(attributes["class"] ?? "") ||
  /^(?:\$|\\\(|\{?\\displaystyle)/.test(attributes["alt"] ?? "") ||
  pixels(attributes, "width") <= MAX_INLINE_PIXELS ||
  pixels(attributes, "height") <= MAX_INLINE_PIXELS

/** The file name of a picture in words; empty for data URIs. */
export const nameOfReference = (reference: string): string => {
  if (/^(?:data|blob|cid|javascript):/i.test(reference)) return ""
  const path = reference.replace(/[?#].*$/s, "").slice(-200)
  try {
    return titleFromPath(decodeURIComponent(path))
  } catch {
    return titleFromPath(path)
  }
}

/** The rows and columns that a cell spans. */
export const spanOf = (attributes: HtmlAttributes): CellSpan => {
  const span = (name: string): number => Math.max(1, Number.parseInt(attributes[name] ?? "", 10) || 1)
  return { columns: span("colspan"), rows: span("rowspan") }
}
