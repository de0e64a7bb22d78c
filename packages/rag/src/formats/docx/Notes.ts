/** Footnotes and endnotes of a Word document. */
import { readXml } from "./Xml.ts"

/** What is around deleted text, and in the properties of a mark or a row that is deleted. */
export const DELETED: ReadonlySet<string> = new Set(["w:del", "w:moveFrom"])

/** Characters of one note, at most. */
const NOTE_AT_MOST = 20_000

/** Puts the texts of a part's notes into `into`, by `footnote 2`. Separators, which Word keeps as notes, are none. */
export const readNotes = async (
  part: AsyncIterable<Uint8Array>,
  kind: "footnote" | "endnote",
  into: Map<string, string>
): Promise<void> => {
  let id: string | undefined
  let text = ""
  let inText = false
  let deleted = 0
  await readXml(part, {
    open(name, attributes) {
      if (name === `w:${kind}`) {
        id =
          attributes["w:type"] === undefined || attributes["w:type"] === "normal"
            ? attributes["w:id"]
            : undefined
        text = ""
      } else if (name === "w:t") inText = deleted === 0
      else if (DELETED.has(name)) deleted++
      else if (name === "w:p" || name === "w:tab" || name === "w:br") text += " "
    },
    text(own) {
      if (inText && text.length < NOTE_AT_MOST) text += own
    },
    close(name) {
      if (name === "w:t") inText = false
      else if (DELETED.has(name)) deleted--
      else if (name === `w:${kind}` && id !== undefined && text.trim() !== "")
        into.set(`${kind} ${id}`, text.trim())
    }
  })
}
