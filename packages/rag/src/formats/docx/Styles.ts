/** Styles of a Word document: which of them are headings, captions, lists. */
import { readXml } from "./Xml.ts"

export interface Style {
  readonly name: string
  /** 0 to 8 for headings. */
  readonly outline?: number | undefined
  readonly list?: { readonly id: string | undefined; readonly level: number | undefined } | undefined
  readonly role?: "title" | "caption" | "contents" | undefined
}

/** Word itself writes English names; other programs write their own language's. */
const HEADING =
  /^(?:heading|überschrift|titre|título|titolo|заголовок|kop|rubrik|overskrift|otsikko|nagłówek|nadpis|başlık|标题|標題|見出し|제목)\s*([1-9])$/i
const TITLE = /^(?:title|titel|titre|título|titolo|название|标题|標題|表題|제목)$/i
const CAPTION =
  /^(?:caption|beschriftung|légende|leyenda|legenda|didascalia|название объекта|题注|標號|図表番号|캡션|figure|table|drawing|illustration)$/i
const CONTENTS = /^(?:toc|verzeichnis|tm|оглавление|目录|目錄|目次|contents)\s*\d?$|^table of figures$/i

interface Draft {
  name: string
  basedOn?: string
  outline?: number
  listId?: string
  listLevel?: number
}

const roleOf = (name: string): Style["role"] =>
  TITLE.test(name) ? "title" : CAPTION.test(name) ? "caption" : CONTENTS.test(name) ? "contents" : undefined

/** By identifier. What a style does not say, the one that it is based on does. */
export const readStyles = async (
  part: AsyncIterable<Uint8Array>
): Promise<{ readonly styles: ReadonlyMap<string, Style>; readonly defaultStyle: Style | undefined }> => {
  const drafts = new Map<string, Draft>()
  let draft: Draft | undefined
  let defaultStyle: string | undefined
  await readXml(part, {
    open(name, attributes) {
      const value = attributes["w:val"]
      if (name === "w:style") {
        const id = attributes["w:styleId"] ?? ""
        draft = { name: id }
        if ((attributes["w:type"] ?? "paragraph") !== "paragraph") return
        drafts.set(id, draft)
        if (attributes["w:default"] === "1") defaultStyle = id
      } else if (draft === undefined || value === undefined) return
      else if (name === "w:name") draft.name = value
      else if (name === "w:basedOn") draft.basedOn = value
      else if (name === "w:outlineLvl") draft.outline = Number(value)
      else if (name === "w:numId") draft.listId = value
      else if (name === "w:ilvl") draft.listLevel = Number(value)
    },
    close(name) {
      if (name === "w:style") draft = undefined
    }
  })
  const styles = new Map<string, Style>()
  for (const [id, own] of drafts) {
    const seen = new Set<Draft>()
    let outline: number | undefined
    let listId: string | undefined
    let listLevel: number | undefined
    let role: Style["role"]
    for (
      let style: Draft | undefined = own;
      style !== undefined && !seen.has(style);
      style = drafts.get(style.basedOn ?? "")
    ) {
      seen.add(style)
      const heading = HEADING.exec(style.name)?.[1]
      outline ??= style.outline ?? (heading === undefined ? undefined : Number(heading) - 1)
      listId ??= style.listId
      listLevel ??= style.listLevel
      role ??= roleOf(style.name)
    }
    const list =
      listId === undefined && listLevel === undefined ? undefined : { id: listId, level: listLevel }
    styles.set(id, { name: own.name, outline, list, role })
  }
  return { styles, defaultStyle: defaultStyle === undefined ? undefined : styles.get(defaultStyle) }
}
