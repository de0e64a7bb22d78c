import { MAX_SENTENCES, readSentences } from "@sluice/embedded"
import { describe, expect, it } from "vitest"

describe("readSentences, for CSV,", () => {
  const people =
    'name,job,salary\nAlice,keeper,31000\nBob,"mate, ""second""\n of two",42000\r\nCarol,,53000\n'
  const asked = (question: string, text = people, delimiter = ",") =>
    readSentences(question, [{ title: "people", text, delimiter }]).map(({ evidence, text }) => [
      text,
      evidence[0]?.quote
    ])

  it("answers with the exact row", () => {
    expect(asked("What is the salary of Alice?")).toEqual([
      ["name: Alice · job: keeper · salary: 31000", "Alice,keeper,31000"]
    ])
    expect(asked("What is the salary of Bob?")).toEqual([
      ['name: Bob · job: mate, "second" of two · salary: 42000', 'Bob,"mate, ""second""\n of two",42000']
    ])
    expect(asked("What is the salary of Carol?")).toEqual([["name: Carol · salary: 53000", "Carol,,53000"]])
    expect(asked("What is the salary of Dora?")).toEqual([])
    const tabs = people.replaceAll(",", "\t")
    expect(asked("What is the salary of Alice?", tabs, "\t")[0]).toEqual([
      "name: Alice · job: keeper · salary: 31000",
      "Alice\tkeeper\t31000"
    ])
  })

  it("takes linear time for unclosed quotes", () => {
    for (const part of ['"', ',"', 'a,"b', ",,", '"a\n'])
      expect(asked("What is the salary of Bob?", part.repeat(50_000)).length).toBeLessThanOrEqual(
        MAX_SENTENCES
      )
  })
})

describe("readSentences, for tables in text,", () => {
  const answer = (question: string, text: string) =>
    readSentences(question, [{ title: "Handbook", text }]).map(({ text }) => text)

  it("distinguishes rows by stop words if all else is equal", () => {
    const fees =
      "| Mooring | Fee |\n|---|---|\n| Boat up to 10 m | 12 crowns |\n| Boat over 10 m | 18 crowns |"
    expect(answer("What is the mooring fee of a boat over 10 m?", fees)[0]).toBe(
      "Mooring: Boat over 10 m · Fee: 18 crowns"
    )
    expect(answer("What is the mooring fee of a boat up to 10 m?", fees)[0]).toBe(
      "Mooring: Boat up to 10 m · Fee: 12 crowns"
    )
  })
})
