/** The figures and tables that a text speaks of: "see Fig. 3", "Tables 2 and 4", "图 3". */

/** What is spoken of. `number` is as captions say it: `3`, `2.1`, `S4`, `IV`. */
export interface FigureMention {
  readonly kind: "figure" | "table"
  readonly number: string
}

const NUMBER = String.raw`(?:S?\d+(?:[.-]\d+)*|[IVX]+)(?![\p{L}\d])`
const LATIN = new RegExp(
  String.raw`(?<![\p{L}\d])(fig(?:ure)?s?|tab(?:le)?s?)\b\.?\s{0,2}(${NUMBER}(?:\s*(?:,|and|&|,\s*and)\s*${NUMBER})*)`,
  "giu"
)
const HAN = /([图圖表])\s{0,2}(\d+(?:[.-]\d+)*)/gu

/** In order, each once. */
export const mentionsIn = (text: string): ReadonlyArray<FigureMention> => {
  const found = new Map<string, FigureMention>()
  const add = (kind: FigureMention["kind"], number: string): void => {
    found.set(`${kind} ${number}`, { kind, number })
  }
  for (const [, word = "", numbers = ""] of text.matchAll(LATIN)) {
    const kind = /^t/i.test(word) ? "table" : "figure"
    for (const [number] of numbers.matchAll(new RegExp(NUMBER, "gu"))) add(kind, number)
  }
  for (const [, word = "", number = ""] of text.matchAll(HAN)) add(word === "表" ? "table" : "figure", number)
  return [...found.values()]
}
