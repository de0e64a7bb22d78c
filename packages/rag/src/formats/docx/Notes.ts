/** Reads the footnotes and endnotes of a Word document, and the text of its charts and diagrams. */
import type { Relation } from "../container/Relations.ts"
import type { ZipContainer } from "../container/ZipContainer.ts"
import { findAll, readTree, type XmlElement } from "../container/Xml.ts"

/** Elements around deleted text, and in the properties of deleted paragraph marks and rows. */
export const DELETED: ReadonlySet<string> = new Set(["w:del", "w:moveFrom"])

/** Characters read of one note, chart or diagram. */
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

/** Charts and diagrams read of one document. */
const MAX_CHARTS = 200

const textIn = (element: XmlElement | undefined): string =>
  findAll(element, ["a:t", "c:v"])
    .map(({ text }) => text)
    .join("")
    .trim()

/** The text of a diagram, one line for each paragraph. */
const diagramLines = (part: XmlElement): ReadonlyArray<string> => findAll(part, ["a:p"]).map(textIn)

/** A series in a line: `2024: April 512, May 734`. */
const seriesLine = ({ children }: XmlElement): string => {
  const child = (...names: ReadonlyArray<string>) => children.find(({ name }) => names.includes(name))
  const categories = findAll(child("c:cat", "c:xVal"), ["c:v"])
  const points = findAll(child("c:val", "c:yVal"), ["c:v"]).map(({ text }, i) =>
    `${categories[i]?.text ?? ""} ${text}`.trim()
  )
  const name = textIn(child("c:tx"))
  return `${name === "" || points.length === 0 ? "" : `${name}: `}${points.join(", ")}`
}

/** The titles of a chart and its axes, and its series. */
const chartLines = (part: XmlElement): ReadonlyArray<string> =>
  findAll(part, ["c:title", "c:ser"]).map((one) => (one.name === "c:title" ? textIn(one) : seriesLine(one)))

/** The texts of a document's charts and diagrams, by relation id. */
export const readCharts = async (
  from: ZipContainer,
  relations: ReadonlyMap<string, Relation>
): Promise<ReadonlyMap<string, string>> => {
  const texts = new Map<string, string>()
  for (const [id, { external, target, type }] of relations) {
    const linesOf = type === "chart" ? chartLines : type === "diagramData" ? diagramLines : undefined
    if (external || linesOf === undefined || texts.size >= MAX_CHARTS) continue
    const lines = linesOf(await readTree(from.read(target)))
    texts.set(
      id,
      lines
        .filter((line) => line !== "")
        .join("\n")
        .slice(0, MAX_CHARACTERS)
        .toWellFormed()
    )
  }
  return texts
}
