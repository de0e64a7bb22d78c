/** Reads the footnotes and endnotes of a Word document. */
import { readXml } from "./Xml.ts"

/** Elements around deleted text, and in the properties of deleted paragraph marks and rows. */
export const DELETED: ReadonlySet<string> = new Set(["w:del", "w:moveFrom"])

/** Characters read of one note. */
const MAX_CHARACTERS = 20_000

/** Adds the texts of a part's notes to `into`, by `footnote 2`. Skips separators, which Word stores as notes. */
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
        id = (attributes["w:type"] ?? "normal") === "normal" ? attributes["w:id"] : undefined
        text = ""
      } else if (name === "w:t") inText = deleted === 0
      else if (DELETED.has(name)) deleted++
      else if (name === "w:p" || name === "w:tab" || name === "w:br") text += " "
    },
    text(own) {
      if (inText && text.length < MAX_CHARACTERS) text += own
    },
    close(name) {
      if (name === "w:t") inText = false
      else if (DELETED.has(name)) deleted--
      else if (name === `w:${kind}` && id !== undefined && text.trim() !== "")
        into.set(`${kind} ${id}`, text.trim())
    }
  })
}
