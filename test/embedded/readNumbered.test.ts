/** A question about one year or numbered thing is not answered with another. */
import { readSentences } from "@sluice/embedded"
import { describe, expect, it } from "vitest"

const answer = (question: string, text: string, title = "Notes") =>
  readSentences(question, [{ title, text, format: "markdown" }]).map((sentence) => sentence.text)

const years =
  "Revenue in 2021 was 4.1 million euro. Revenue in 2022 was 4.8 million euro. Profit in 2022 was 0.6 million euro."
const tolls = "In 1950 the ferry carried 300 carts a day. In 1974 the toll of the bridge was 2 crowns."
const releases = "Version 1.2.3 needs Node 18. Version 1.2.4 needs Node 20."
const rooms =
  "Room 12 has a projector and seats 20 people. Rooms 14 and 15 have a whiteboard. Rooms 20 to 29 have a sink."
const halls = "The crane of hall two was painted by Olaf."
const minutes = "The meeting was held in Oslo on 9 March. It was chaired by Holm."
const chinese = "第17次会议由王明主持。会议室3号有投影仪。"

describe("the year of a question", () => {
  it("is in the sentence, its heading or its title", () => {
    expect(answer("What was the profit in 2021?", years)).toEqual([])
    expect(answer("What was the profit in 2022?", years)[0]).toBe("Profit in 2022 was 0.6 million euro.")
    expect(answer("What was the toll of the bridge in 1950?", tolls)).toEqual([])
    expect(answer("What was the toll of the bridge in 1974?", tolls)).toHaveLength(1)
    const rise = "The toll of the bridge was 3 crowns, and 2 in 1973."
    expect(answer("What was the toll of the bridge in 1974?", `# 1974\n\n${rise}`)).toEqual([rise])
    expect(answer("What was the toll of the bridge in 1974?", rise, "Tolls 1974")).toEqual([rise])
  })
})

describe("a numbered thing", () => {
  it("matches its Roman number, its ordinal or a range", () => {
    const pairs = [
      ["When did World War 2 end?", "World War II ended in 1945."],
      ["What is the dose in phase 3?", "In phase III the dose is 20 mg."],
      ["What was revenue in quarter 3?", "In the third quarter revenue was 4 million euro."]
    ] as const
    for (const [question, text] of pairs) expect(answer(question, text), question).toEqual([text])
    expect(answer("When did World War 2 end?", "World War I ended in 1918.")).toEqual([])
  })

  it("must be the one that the sentence names", () => {
    expect(answer("Which Node does version 3.0 need?", releases)).toEqual([])
    expect(answer("Which Node does version 1.2.4 need?", releases)).toEqual(["Version 1.2.4 needs Node 20."])
    expect(answer("How many people does room 16 seat?", rooms)).toEqual([])
    expect(answer("How many people does room 12 seat?", rooms)).toHaveLength(1)
    expect(answer("Which rooms have a whiteboard, is room 15 one?", rooms)[0]).toContain("whiteboard")
    expect(answer("Has room 23 a sink?", rooms)).toEqual(["Rooms 20 to 29 have a sink."])
    expect(answer("Has room 33 a sink?", rooms)).toEqual([])
    expect(answer("Who painted the crane of hall three?", halls)).toEqual([])
    expect(answer("Who painted the crane of hall two?", halls)).toEqual([halls])
    expect(answer("Who painted the crane of hall 2?", halls)).toEqual([halls])
    expect(answer("谁主持第41次会议？", chinese)).toEqual([])
    expect(answer("谁主持第17次会议？", chinese)).toEqual(["第17次会议由王明主持。"])
    expect(answer("会议室5号有什么？", chinese)).toEqual([])
  })

  it("must be the one of the title if the sentence names none", () => {
    expect(answer("Who chaired meeting 17?", minutes, "Minutes of meeting 17")).toEqual([
      "It was chaired by Holm."
    ])
    expect(answer("Who chaired meeting 9?", minutes, "Minutes of meeting 17")).toEqual([])
    expect(answer("Who chaired meeting 41?", minutes, "Minutes")).toEqual([])
    const sections = "## Meeting 4\n\nThe chair was Holm.\n\n## Meeting 5\n\nThe chair was Lin."
    expect(answer("Who was the chair of meeting 5?", sections)).toEqual(["The chair was Lin."])
    const both = "Room 12 is upstairs. It seats 20 people. Room 14 is downstairs. It seats 8 people."
    expect(answer("How many people does room 14 seat?", both)[0]).toBe("It seats 8 people.")
  })

  it("is not a number that counts or measures", () => {
    const limit = "The limit at the quay is 30 minutes."
    expect(answer("Is the limit at the quay 40 minutes?", limit)).toEqual([limit])
    expect(answer("Do the keepers see three ships?", "The keepers see two ships.")).toHaveLength(1)
  })
})
