/** The figures and tables that a text names by number. */

const NUMBER = "(?:[A-Z]{1,2}[.-]?)?\\d{1,3}(?:[.-]\\d{1,3}){0,2}(?!\\d)"
const NAMED = new RegExp(
  `(?:\\b(fig(?:ure)?s?|tab(?:le)?s?)\\.?|(?<![代发發列仪儀外年地])([图圖図表]))\\s{0,3}(${NUMBER}(?:\\s{0,2}(?:,|、|&|and|to|or|和|与|至|到|[–-])\\s{0,2}${NUMBER}){0,6})`,
  "giu"
)
const ONE = new RegExp(NUMBER, "giu")

const kindOf = (word: string): string => (/^(?:fig|[图圖図])/iu.test(word) ? "figure" : "table")

/** As `figure 3`, `table b.2`: “Fig. 3”, “Tables 4 and 5”, “图3”. Of “Figures 2–5”, the two ends. */
export const picturesIn = (text: string): ReadonlySet<string> => {
  const found = new Set<string>()
  for (const [, word, cjk, numbers = ""] of text.matchAll(NAMED)) {
    for (const [number] of numbers.matchAll(ONE))
      found.add(`${kindOf(word ?? cjk ?? "")} ${number.toLowerCase()}`)
  }
  return found
}
