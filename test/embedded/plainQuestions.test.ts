/**
 * What the learnt reader makes of plain questions about short texts. The weights are learnt from them too: what is tested is
 * that the features tell them apart, and that weights and features belong together.
 */
import { readFileSync } from "node:fs"
import { readSentences } from "@sluice/embedded"
import type { ReaderPassage } from "@sluice/core/models"
import { describe, expect, it } from "vitest"
import { askedQuestion } from "../../packages/embedded/src/reader/AskedQuestion.ts"
import { weightedSentences } from "../../packages/embedded/src/reader/candidates.ts"
import { rankCandidates } from "../../packages/embedded/src/reader/rankCandidates.ts"

interface PlainQuestion {
  readonly question: string
  readonly passages: ReadonlyArray<ReaderPassage>
  /** The beginning of what is shown first. Absent if nothing answers. */
  readonly answer?: string
}

const linesOf = <A>(name: string): ReadonlyArray<A> =>
  readFileSync(new URL(`../qa/plain/${name}`, import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as A)

const behaviours = linesOf<PlainQuestion>("behaviours.jsonl")
const shortTexts = linesOf<{ question: string; title: string; text: string; answer?: string }>(
  "questions.jsonl"
).map(({ text, title, ...rest }): PlainQuestion => ({
  ...rest,
  passages: [{ title, text, format: "markdown" }]
}))

const shares = (questions: ReadonlyArray<PlainQuestion>) => {
  const share = (of: ReadonlyArray<PlainQuestion>) =>
    of.filter(({ answer, passages, question }) => {
      const said = readSentences(question, passages).map(({ text }) => text)
      return answer === undefined ? said.length === 0 : said.join(" ").includes(answer)
    }).length / of.length
  return {
    answered: share(questions.filter(({ answer }) => answer !== undefined)),
    refused: share(questions.filter(({ answer }) => answer === undefined))
  }
}

describe("readSentences, for plain questions,", () => {
  it("answers nearly all that the text answers, and refuses most others", () => {
    const { answered, refused } = shares(behaviours)
    expect(answered).toBeGreaterThan(0.93)
    expect(refused).toBeGreaterThan(0.85)
  })

  it("answers most questions about one or two sentences, and refuses what they do not say", () => {
    const { answered, refused } = shares(shortTexts)
    expect(answered).toBeGreaterThan(0.78)
    expect(refused).toBeGreaterThan(0.82)
  })

  it("leaves probability for none of the sentences", () => {
    for (const { passages, question } of behaviours) {
      const ranked = rankCandidates(weightedSentences(askedQuestion(question), passages))
      const sum = ranked.reduce((all, [, probability]) => all + probability, 0)
      expect(sum).toBeLessThan(1)
      expect(ranked.every(([, probability], i) => i === 0 || probability <= ranked[i - 1]![1])).toBe(true)
    }
  })

  it("knows numbers in words, and which thing they number", () => {
    const halls = "The crane of hall two was painted in March. The crane of hall three was painted in June."
    const answer = (asked: string) =>
      readSentences(`When was the crane of hall ${asked} painted?`, [{ title: "Halls", text: halls }])[0]
        ?.text
    for (const asked of ["two", "2"])
      expect(answer(asked)).toBe("The crane of hall two was painted in March.")
    for (const asked of ["three", "3"])
      expect(answer(asked)).toBe("The crane of hall three was painted in June.")
    expect(answer("4")).toBeUndefined()
  })

  it("shows the items of a list after what leads to them, as one quote", () => {
    const text = "GSA has a few types of readers:\n\n- Stanley Global\n- Gemalto\n\nThey are free."
    const [first] = readSentences("Which types of readers does GSA have?", [{ title: "Readers", text }])
    expect(first).toEqual({
      text: "GSA has a few types of readers: Stanley Global · Gemalto",
      evidence: [{ passage: 0, quote: "GSA has a few types of readers:\n\n- Stanley Global\n- Gemalto" }]
    })
  })
})
