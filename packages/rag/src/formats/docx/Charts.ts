/** Reads the text of charts and diagrams that Word draws. */
import type { DocxPackage, Relation } from "./DocxPackage.ts"
import { readXml } from "./Xml.ts"

/** Charts and diagrams read of one document, and characters of each. */
const MAX_CHARTS = 200
const MAX_CHARACTERS = 20_000

/** The text of a diagram, one line for each paragraph. */
const readDiagram = async (part: AsyncIterable<Uint8Array>): Promise<string> => {
  const lines: Array<string> = []
  let line = ""
  let inText = false
  await readXml(part, {
    open: (name) => void (inText = name === "a:t"),
    text: (text) => {
      if (inText) line += text
    },
    close(name) {
      inText = false
      if (name !== "a:p") return
      if (line.trim() !== "") lines.push(line.trim())
      line = ""
    }
  })
  return lines.join("\n")
}

/** A chart's title and axes, then a line for each series: `2024: April 512, May 734`. */
const readChart = async (part: AsyncIterable<Uint8Array>): Promise<string> => {
  const lines: Array<string> = []
  const ancestors: Array<string> = []
  let title = ""
  let name = ""
  let categories: Array<string> = []
  let values: Array<string> = []
  let inText = false
  await readXml(part, {
    open(element) {
      inText = element === "a:t" || element === "c:v"
      if (/^c:(?:ser|tx|cat|val|xVal|yVal|title)$/.test(element)) ancestors.push(element)
      if (element === "c:ser") [name, categories, values] = ["", [], []]
    },
    text(text) {
      const parent = ancestors.at(-1)
      if (!inText) return
      if (ancestors.includes("c:title")) title += text
      else if (parent === "c:tx") name += text
      else if (parent === "c:cat" || parent === "c:xVal") categories.push(text)
      else if (parent === "c:val" || parent === "c:yVal") values.push(text)
    },
    close(element) {
      inText = false
      if (ancestors.at(-1) === element) ancestors.pop()
      if (element === "c:title" && !ancestors.includes("c:title")) {
        if (title.trim() !== "") lines.push(title.trim())
        title = ""
      } else if (element === "c:ser") {
        const points = values.map((value, i) => `${categories[i] ?? ""} ${value}`.trim()).join(", ")
        if (points !== "") lines.push(name.trim() === "" ? points : `${name.trim()}: ${points}`)
      }
    }
  })
  return lines.join("\n")
}

/** The texts of a document's charts and diagrams, by relation id. */
export const readCharts = async (
  from: DocxPackage,
  relations: ReadonlyMap<string, Relation>
): Promise<ReadonlyMap<string, string>> => {
  const texts = new Map<string, string>()
  for (const [id, { external, target, type }] of relations) {
    const read = type === "chart" ? readChart : type === "diagramData" ? readDiagram : undefined
    if (external || read === undefined || texts.size >= MAX_CHARTS) continue
    const text = await read(from.read(target))
    texts.set(id, text.slice(0, MAX_CHARACTERS).toWellFormed())
  }
  return texts
}
