/** Reads the paragraph styles of a Word document: which are headings, captions and lists. */
import { readXml } from "./Xml.ts"

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

/** A style as it is written, without what it inherits. */
interface StyleElement {
  name: string
  basedOn?: string
  outline?: number
  listId?: string
  listLevel?: number
}

const roleOf = (name: string): Style["role"] =>
  TITLE.test(name) ? "title" : CAPTION.test(name) ? "caption" : CONTENTS.test(name) ? "contents" : undefined

const outlineOf = ({ name, outline }: StyleElement): number | undefined => {
  const heading = HEADING.exec(name)?.[1]
  return outline ?? (heading === undefined ? undefined : Number(heading) - 1)
}

/** Styles by id. A style inherits from the one that it is based on. */
export const readStyles = async (
  part: AsyncIterable<Uint8Array>
): Promise<{ readonly styles: ReadonlyMap<string, Style>; readonly defaultStyle: Style | undefined }> => {
  const elements = new Map<string, StyleElement>()
  let element: StyleElement | undefined
  let defaultStyle = ""
  await readXml(part, {
    open(name, attributes) {
      const value = attributes["w:val"]
      if (name === "w:style") {
        const id = attributes["w:styleId"] ?? ""
        element = { name: id }
        if ((attributes["w:type"] ?? "paragraph") !== "paragraph") return
        elements.set(id, element)
        if (attributes["w:default"] === "1") defaultStyle = id
      } else if (element === undefined || value === undefined) return
      else if (name === "w:name") element.name = value
      else if (name === "w:basedOn") element.basedOn = value
      else if (name === "w:outlineLvl") element.outline = Number(value)
      else if (name === "w:numId") element.listId = value
      else if (name === "w:ilvl") element.listLevel = Number(value)
    },
    close(name) {
      if (name === "w:style") element = undefined
    }
  })
  const styles = new Map<string, Style>()
  for (const id of elements.keys()) {
    const chain = new Set<StyleElement>()
    for (let own = elements.get(id); own && !chain.has(own); own = elements.get(own.basedOn ?? ""))
      chain.add(own)
    const first = <A>(read: (style: StyleElement) => A | undefined): A | undefined =>
      Array.from(chain, read).find((value) => value !== undefined)
    const listId = first((style) => style.listId)
    const level = first((style) => style.listLevel)
    styles.set(id, {
      outline: first(outlineOf),
      list: listId === undefined && level === undefined ? undefined : { id: listId, level },
      role: first(({ name }) => roleOf(name))
    })
  }
  return { styles, defaultStyle: styles.get(defaultStyle) }
}
