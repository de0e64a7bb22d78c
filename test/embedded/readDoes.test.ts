/** Who did something, or when: statements about another thing do not answer. */
import { readSentences } from "@sluice/embedded"
import { describe, expect, it } from "vitest"

const read = (question: string, text: string): string | undefined =>
  readSentences(question, [{ title: "Notes", text }])[0]?.text

const PUMPS = "Pump 11 stopped at 08:10. Pump 12 started at 08:11."

describe("readSentences, for a fact about another thing", () => {
  it.each([
    ["When did pump 11 start?", PUMPS],
    ["When did pump 12 stop?", PUMPS],
    ["When was the boat connected?", "The boat was disconnected on 3 May."],
    ["When was the boat disconnected?", "The boat was connected on 3 May."]
  ])("is not answered: %s %s", (question, text) => {
    expect(read(question, text)).toBeUndefined()
  })

  it("does not answer if a text of one line is its own title", () => {
    expect(readSentences("When did pump 11 start?", [{ title: PUMPS, text: PUMPS }])).toEqual([])
  })

  it.each([
    ["When did pump 12 start?", PUMPS, "Pump 12 started at 08:11."],
    ["When did pump 11 start?", "Pump 11 is of iron. It started at 08:10.", "It started at 08:10."],
    [
      "Is the pump connected at night?",
      "The pump is disconnected at night.",
      "The pump is disconnected at night."
    ]
  ])("is answered where it is said of that one: %s %s", (question, text, answer) => {
    expect(read(question, text)).toBe(answer)
  })

  it.each([
    ["When did the museum open?", "The harbour museum stands by the mill. The doors opened in 1921.", "1921"],
    [
      "Who designed the bridge?",
      "The Severn Bridge is 1.6 km long. Gilbert Roberts designed the deck and the towers.",
      "Gilbert Roberts"
    ]
  ])("is answered where the sentence names it in other words: %s %s", (question, text, answer) => {
    const found = readSentences(question, [{ title: "Notes", text }])
    expect(found.map(({ text }) => text).join(" ")).toContain(answer)
  })
})
