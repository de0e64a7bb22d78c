/** How well texts match a question by the letters in a row that they share: also in other forms and parts of a word. */
import { UNSPACED, WORD } from "@sluice/core/text"

const GROUP = 4

/** Characters of a question whose groups are looked for. */
const MAX_ASKED = 2_000

/** BM25's constants: how soon repetitions stop to count, and how much a text's length does. */
const SATURATION = 1.2
const LENGTH_SHARE = 0.75

/** Calls `visit` with each four letters in a row of a word, or a shorter word; of scripts without spaces with each character and pair. */
const eachGroup = (text: string, visit: (group: string) => void): void => {
  const plain = text
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036f]+/g, "")
    .normalize("NFC")
    .toLowerCase()
  let last = -1
  for (const { 0: word, index } of plain.matchAll(WORD)) {
    const isUnspaced = UNSPACED.test(word)
    if (isUnspaced && last === index) visit(plain.slice(index - 1, index + 1))
    last = isUnspaced ? index + 1 : -1
    if (word.length < GROUP) visit(word)
    else for (let at = 0; at + GROUP <= word.length; at++) visit(word.slice(at, at + GROUP))
  }
}

/** The score of each text by BM25 over their groups of letters; how rare a group is, is counted among these texts. */
export const letterScores = (question: string, texts: ReadonlyArray<string>): ReadonlyArray<number> => {
  const asked = new Set<string>()
  eachGroup(question.slice(0, MAX_ASKED), (group) => asked.add(group))
  const counted = texts.map((text) => {
    const counts = new Map<string, number>()
    let size = 0
    eachGroup(text, (group) => {
      size++
      if (asked.has(group)) counts.set(group, (counts.get(group) ?? 0) + 1)
    })
    return { counts, size }
  })
  const mean = counted.reduce((sum, { size }) => sum + size, 0) / texts.length
  const rarity = new Map(
    Array.from(asked, (group) => {
      const having = counted.filter(({ counts }) => counts.has(group)).length
      return [group, Math.log(1 + (texts.length - having + 0.5) / (having + 0.5))]
    })
  )
  return counted.map(({ counts, size }) => {
    const longer = SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * size) / mean)
    return Array.from(
      counts,
      ([group, count]) => (rarity.get(group)! * count * (SATURATION + 1)) / (count + longer)
    ).reduce((sum, score) => sum + score, 0)
  })
}
