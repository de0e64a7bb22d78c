/** Sentences that share the question's words and are probably no answer. */
import { readFileSync } from "node:fs"
import { readSentences } from "@sluice/embedded"
import { describe, expect, it } from "vitest"
import { rankCandidates } from "../../packages/embedded/src/reader/sure/sureness.ts"

const read = (question: string, text: string, title = "Notes") =>
  readSentences(question, [{ title, text, format: "markdown" }]).map((sentence) => sentence.text)

interface Plain {
  readonly question: string
  readonly text: string
  readonly title: string
  readonly answer?: string
}
const plain = readFileSync(new URL("../qa/plain/questions.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Plain)

describe("readSentences, where the learnt model doubts,", () => {
  it("does not show a sentence that only has the words", () => {
    const leaving =
      "The steps apply to all employees: those who left at the end of their term, and those who resign. Begin two weeks before the last day of the year."
    expect(read("How many employees left last year?", leaving)).toEqual([])
  })

  it("answers plain questions about short texts, and refuses what they do not say", () => {
    const judged = plain.map(({ answer, question, text, title }) => {
      const said = read(question, text, title)
      return answer === undefined ? said.length === 0 : said.join(" ").includes(answer)
    })
    expect(judged.filter((right) => right).length / judged.length).toBeGreaterThan(0.9)
  })

  it("the probabilities of all sentences together leave room for none", () => {
    for (const { question, text, title } of plain) {
      const ranked = rankCandidates(question, [{ title, text }])
      const sum = ranked.reduce((all, [, probability]) => all + probability, 0)
      expect(sum).toBeLessThan(1)
      expect(ranked.every(([, probability], i) => i === 0 || probability <= ranked[i - 1]![1])).toBe(true)
    }
  })
})
