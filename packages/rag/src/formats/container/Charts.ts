/** Reads the text of charts and diagrams of Office documents. */
import type { Relation } from "./Relations.ts"
import { findAll, readTree, type XmlElement } from "./Xml.ts"
import type { ZipContainer } from "./ZipContainer.ts"

/** Charts and diagrams read of one document. */
const MAX_CHARTS = 200
/** Characters read of one. */
const MAX_CHARACTERS = 20_000

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
