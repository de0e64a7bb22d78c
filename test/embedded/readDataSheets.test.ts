/** The name of a thing in the title or a heading applies to every value below it. */
import { readSentences } from "@sluice/embedded"
import { describe, expect, it } from "vitest"

const layouts: ReadonlyArray<readonly [string, string]> = [
  ["a list", "- Weight: 31 kg\n- Power: 3.5 kW\n- Price: 1200 euro"],
  ["lines", "Weight: 31 kg\nPower: 3.5 kW\nPrice: 1200 euro"],
  ["sentences", "The weight is 31 kg. The power is 3.5 kW. The price is 1200 euro."],
  ["a table", "| Item | Value |\n|---|---|\n| Weight | 31 kg |\n| Power | 3.5 kW |\n| Price | 1200 euro |"],
  ["bold words", "**Weight:** 31 kg\n\n**Power:** 3.5 kW\n\n**Price:** 1200 euro"],
  ["headings", "### Weight\n\n31 kg\n\n### Power\n\n3.5 kW\n\n### Price\n\n1200 euro"]
]
const asked: ReadonlyArray<readonly [string, RegExp]> = [
  ["What is the weight of pump X100?", /31 kg/],
  ["How much does the X100 weigh?", /31 kg/],
  ["What is the power of pump X100?", /3\.5 kW/],
  ["What does pump X100 cost?", /1200 euro/]
]
const answer = (question: string, text: string, title: string) =>
  readSentences(question, [{ title, text, format: "markdown" }]).map((sentence) => sentence.text)

describe("a data sheet", () => {
  it.each(layouts)("as %s answers for the thing of its title", (_, values) => {
    for (const [question, value] of asked) {
      expect(answer(question, `# Pump X100\n\n## Data\n\n${values}`, "Pump X100")[0], question).toMatch(value)
      expect(answer(question, `## Data\n\n${values}`, "Pump X100 > Data")[0], question).toMatch(value)
      expect(answer(question.replace("X100", "X200"), `## Data\n\n${values}`, "Pump X100 > Data")).toEqual([])
    }
  })

  it("answers for the thing of the open heading", () => {
    const data = (weight: number, more = "") => `### Data\n\n- Weight: ${weight} kg\n${more}`
    const both = `# Catalogue\n\n## Pump X100\n\n${data(31)}\n## Pump X200\n\n${data(45, "- Noise: 71 dB\n")}`
    expect(answer("What is the weight of pump X200?", both, "Catalogue")).toEqual(["Weight: 45 kg"])
    expect(answer("What is the weight of pump X100?", both, "Catalogue")).toEqual(["Weight: 31 kg"])
  })

  it("does not answer what it does not say", () => {
    const text = `## Data\n\n${layouts[0]![1]}`
    for (const question of [
      "How loud is the pump X100?",
      "How wide is the X100?",
      "What is the noise of pump X100?"
    ])
      expect(answer(question, text, "Pump X100 > Data")).toEqual([])
  })

  it("does not give a time for an amount of money", () => {
    const trip = "The ferry goes from Rotterdam to Hull. The ferry takes 11 hours."
    expect(answer("How much is the ferry?", trip, "Trip")).toEqual([])
    expect(answer("How much is the ferry?", `${trip} The ferry is 90 crowns.`, "Trip")).toEqual([
      "The ferry is 90 crowns."
    ])
  })
})
