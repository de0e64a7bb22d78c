/** Who does something, in other words than the question's. */
import { readSentences } from "@sluice/embedded"
import { describe, expect, it } from "vitest"

const read = (question: string, text: string): string | undefined =>
  readSentences(question, [{ title: "notes.md", text }])[0]?.text

describe("a question with who", () => {
  it.each([
    ["Who holds the night watch?", "The night watch is held by two keepers."],
    ["Who wrote the report?", "The report was written by Anna Berg and Tom Lee."],
    ["Who teaches the beginners?", "Beginners are taught by Mr Holm on Mondays."],
    ["Who owns the tea room?", "The tea room belongs to Anna Berg."],
    ["Who manages the budget?", "Anna Berg is responsible for the budget of the department."]
  ])("%s %s", (question, text) => {
    expect(read(question, text)).toBe(text)
  })

  it.each([
    [
      "Who owns the tea room?",
      "The tea room opens at nine and closes by six in winter, when the keepers leave."
    ],
    ["Who teaches the beginners?", "Beginners bring their own boots and a warm coat on Mondays."],
    ["Who manages the budget?", "The budget of the department was 40,000 crowns in 2024."]
  ])("is left alone where that is not said: %s %s", (question, text) => {
    expect(read(question, text)).toBeUndefined()
  })

  it("an amount of money answers what a thing costs", () => {
    const text = "A ticket is 12 euros for adults."
    expect(read("How much does a ticket cost?", text)).toBe(text)
  })
})
