/** Charts and diagrams that Word draws itself: what is written in them. */
import type { DocxPackage } from "./DocxPackage.ts"
import type { Relation } from "./Relations.ts"
import { readXml } from "./Xml.ts"

/** Drawings of one document that are read, and characters of one of them, at most. */
const DRAWN_AT_MOST = 200
const WORDS_AT_MOST = 20_000

/** A diagram's words, one paragraph a line. */
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
  const within: Array<string> = []
  let title = ""
  let name = ""
  let categories: Array<string> = []
  let values: Array<string> = []
  let inText = false
  await readXml(part, {
    open(element) {
      inText = element === "a:t" || element === "c:v"
      if (/^c:(?:ser|tx|cat|val|xVal|yVal|title)$/.test(element)) within.push(element)
      if (element === "c:ser") [name, categories, values] = ["", [], []]
    },
    text(text) {
      const place = within.at(-1)
      if (!inText) return
      if (within.includes("c:title")) title += text
      else if (place === "c:tx") name += text
      else if (place === "c:cat" || place === "c:xVal") categories.push(text)
      else if (place === "c:val" || place === "c:yVal") values.push(text)
    },
    close(element) {
      inText = false
      if (within.at(-1) === element) within.pop()
      if (element === "c:title" && !within.includes("c:title")) {
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

/** What is written in the charts and diagrams that a document refers to, by the identifier of the relation. */
export const readDrawn = async (
  from: DocxPackage,
  relations: ReadonlyMap<string, Relation>
): Promise<ReadonlyMap<string, string>> => {
  const drawn = new Map<string, string>()
  for (const [id, { external, target, type }] of relations) {
    if (external || drawn.size >= DRAWN_AT_MOST) continue
    const words =
      type === "chart"
        ? await readChart(from.read(target))
        : type === "diagramData"
          ? await readDiagram(from.read(target))
          : undefined
    if (words !== undefined) drawn.set(id, words.slice(0, WORDS_AT_MOST).toWellFormed())
  }
  return drawn
}
