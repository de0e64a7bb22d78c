/** Joins the parts of a file, such as slides, chapters or attachments, to one document. */
import {
  type Block,
  type Figure,
  type Parsed,
  type ReadFault,
  type Span,
  TEXT_ONLY
} from "../../document/Document.ts"
import type { Locator } from "../../document/Locator.ts"
import type { ParsedDraft } from "./Captions.ts"

/** A part of a file. */
export interface DocumentPart {
  /** Where it is in the file: `slide 7`. Its own locators and pages follow: `attachment 2, page 3`. */
  readonly label: string
  /** A heading above it. Its own headings are then one level lower. */
  readonly heading?: { readonly level: number; readonly text: string }
  readonly parsed: Parsed & Partial<Pick<ParsedDraft, "pictures">>
}

const MAX_LEVEL = 6

const moved = <A extends Span>(span: A, by: number): A => ({
  ...span,
  start: span.start + by,
  end: span.end + by
})

const movedFigure = (figure: Figure, by: number): Figure => ({
  ...moved(figure, by),
  mentions: figure.mentions.map((mention) => moved(mention, by)),
  ...(figure.caption === undefined ? {} : { caption: moved(figure.caption, by) })
})

/** The places within a part. */
const innerLocators = ({ locators, pages }: Parsed): ReadonlyArray<Locator> =>
  locators ?? pages.map(({ end, number, start }) => ({ start, end, label: `page ${number}` }))

/** The places within a part, or the part itself from `from` to `to`. */
const locatorsOf = ({ label, parsed }: DocumentPart, by: number, from: number, to: number) => {
  const inner = innerLocators(parsed).filter(({ end, start }) => end > start)
  return inner.length === 0
    ? [{ start: from, end: to, label }]
    : inner.map((own): Locator => ({ ...moved(own, by), label: `${label}, ${own.label}` }))
}

/** One document of all parts. Their pages have no images here, so the places of figures on pages are left out. */
export const joinDocuments = (
  about: Pick<Parsed, "format" | "title"> & { readonly faults?: ReadonlyArray<ReadFault> },
  parts: ReadonlyArray<DocumentPart>
): ParsedDraft => {
  const texts: Array<string> = []
  const blocks: Array<Block> = []
  const figures: Array<Figure> = []
  const locators: Array<Locator> = []
  const pictures: Array<ParsedDraft["pictures"][number]> = []
  const faults: Array<ReadFault> = [...(about.faults ?? [])]
  let length = 0
  const write = (text: string): number => {
    if (length > 0) texts.push("\n\n")
    const start = length + (length > 0 ? 2 : 0)
    texts.push(text)
    length = start + text.length
    return start
  }
  for (const part of parts) {
    const { heading, parsed } = part
    let from: number | undefined
    if (heading !== undefined) {
      from = write(heading.text)
      blocks.push({ kind: "heading", level: heading.level, heading: heading.text, start: from, end: length })
    }
    const by = parsed.text === "" ? length : write(parsed.text)
    for (const block of parsed.blocks) {
      const level =
        block.level === undefined ? {} : { level: Math.min(MAX_LEVEL, block.level + (heading?.level ?? 0)) }
      blocks.push({ ...moved(block, by), ...level })
    }
    for (const { figure, reference } of parsed.pictures ?? []) {
      pictures.push({ figure: figures.length + figure, reference })
    }
    for (const { box: _, page: __, ...figure } of parsed.figures) figures.push(movedFigure(figure, by))
    for (const { message, page } of parsed.faults) {
      faults.push({ message: `${part.label}${page === undefined ? "" : `, page ${page}`}: ${message}` })
    }
    locators.push(...locatorsOf(part, by, from ?? by, length))
  }
  const { format, title } = about
  return { ...TEXT_ONLY, format, title, text: texts.join(""), blocks, figures, faults, locators, pictures }
}
