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
    expect(asked("What is the salary of Alice?")).toEqual([["name: Alice · job: keeper · salary: 31000", "Alice,keeper,31000"]])
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
