/** Reads the paragraph styles of a Word document: which are headings, captions and lists. */
import { Predicate } from "effect"
import { findAll, readTree, valueAt, type XmlElement } from "../container/Xml.ts"

export interface Style {
  /** 0 to 8 for headings. */
  readonly outline: number | undefined
  readonly list: { readonly id: string | undefined; readonly level: number | undefined } | undefined
  readonly role: "title" | "caption" | "contents" | undefined
}

/** Word writes English names; other programs write those of their language. */
const HEADING =
  /^(?:heading|überschrift|titre|título|titolo|заголовок|kop|rubrik|overskrift|otsikko|nagłówek|nadpis|başlık|标题|標題|見出し|제목)\s*([1-9])$/i
const TITLE = /^(?:title|titel|titre|título|titolo|название|标题|標題|表題|제목)$/i
const CAPTION =
  /^(?:caption|beschriftung|légende|leyenda|legenda|didascalia|название объекта|题注|標號|図表番号|캡션|figure|table|drawing|illustration)$/i
const CONTENTS = /^(?:toc|verzeichnis|tm|оглавление|目录|目錄|目次|contents)\s*\d?$|^table of figures$/i

const roleOf = (name: string): Style["role"] =>
  TITLE.test(name) ? "title" : CAPTION.test(name) ? "caption" : CONTENTS.test(name) ? "contents" : undefined

const numberAt = (element: XmlElement, ...path: ReadonlyArray<string>): number | undefined => {
  const value = valueAt(element, ...path)
  return value === undefined ? undefined : Number(value)
}

const nameOf = (style: XmlElement): string => valueAt(style, "w:name") ?? style.attributes["w:styleId"] ?? ""

const outlineOf = (style: XmlElement): number | undefined => {
  const heading = HEADING.exec(nameOf(style))?.[1]
  return numberAt(style, "w:pPr", "w:outlineLvl") ?? (heading === undefined ? undefined : Number(heading) - 1)
}

/** A style and those that it inherits from at most: documents have a handful. Two may be based on each other. */
const MAX_CHAIN = 100

/** Paragraph styles by id. A style inherits from the one that it is based on. */
export const readStyles = async (
  part: AsyncIterable<Uint8Array>
): Promise<{ readonly styles: ReadonlyMap<string, Style>; readonly defaultStyle: Style | undefined }> => {
  const elements = findAll(await readTree(part), ["w:style"]).filter(
    ({ attributes }) => (attributes["w:type"] ?? "paragraph") === "paragraph"
  )
  const byId = new Map(elements.map((style) => [style.attributes["w:styleId"] ?? "", style]))
  const baseOf = (style: XmlElement) => byId.get(valueAt(style, "w:basedOn") ?? "")
  const styles = new Map<string, Style>()
  for (const id of byId.keys()) {
    const chain: Array<XmlElement> = []
    for (let own = byId.get(id); own && chain.length < MAX_CHAIN; own = baseOf(own)) chain.push(own)
    const first = <A>(read: (style: XmlElement) => A | undefined): A | undefined =>
      chain.map(read).find(Predicate.isNotUndefined)
    const listId = first((style) => valueAt(style, "w:pPr", "w:numPr", "w:numId"))
    const level = first((style) => numberAt(style, "w:pPr", "w:numPr", "w:ilvl"))
    styles.set(id, {
      outline: first(outlineOf),
      list: listId === undefined && level === undefined ? undefined : { id: listId, level },
      role: first((style) => roleOf(nameOf(style)))
    })
  }
  const byDefault = elements.findLast(({ attributes }) => attributes["w:default"] === "1")
  return { styles, defaultStyle: styles.get(byDefault?.attributes["w:styleId"] ?? "") }
}
