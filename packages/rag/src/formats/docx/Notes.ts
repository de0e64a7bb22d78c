/** Reads the footnotes and endnotes of a Word document. */
import { findAll, readTree } from "../container/Xml.ts"

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
  for (const note of findAll(await readTree(part), [`w:${kind}`])) {
    const { "w:id": id, "w:type": type = "normal" } = note.attributes
    const words = findAll(note, ["w:p"], DELETED).map((paragraph) =>
      findAll(paragraph, ["w:t", "w:tab", "w:br"], DELETED)
        .map((one) => (one.name === "w:t" ? one.text : " "))
        .join("")
    )
    const text = words.join(" ").trim().slice(0, MAX_CHARACTERS).toWellFormed()
    if (type === "normal" && id !== undefined && text !== "") into.set(`${kind} ${id}`, text)
  }
}
