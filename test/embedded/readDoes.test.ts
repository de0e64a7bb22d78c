/** Who did it, or when: what is said of another thing is no answer, nor is what else is said of this one. */
import { readSentences } from "@sluice/embedded"
import { describe, expect, it } from "vitest"

const read = (question: string, text: string): string | undefined =>
  readSentences(question, [{ title: "Notes", text }])[0]?.text

const PUMPS = "Pump 11 stopped at 08:10. Pump 12 started at 08:11."
const GATES = "The gate was closed in May. The lock was opened in June."
const BOATS = "Ida sold the boat to Per. Olaf bought the crane."
const HOURS = "# Museum\n\nOpens at 9 and closes at 17.\n\n# Tower\n\nOpens at 10."

describe("what a thing does, where the passage says it of another", () => {
  it.each([
    ["When did pump 11 start?", PUMPS],
    ["When did pump 12 stop?", PUMPS],
    ["When was the gate opened?", GATES],
    ["When was the lock closed?", GATES],
    ["Who bought the boat?", BOATS],
    ["Who sold the crane?", BOATS],
    ["When does the tower close?", HOURS],
    ["When was the boat connected?", "The boat was disconnected on 3 May."],
    ["When was the boat disconnected?", "The boat was connected on 3 May."]
  ])("is not answered: %s %s", (question, text) => {
    expect(read(question, text)).toBeUndefined()
  })

  it("is not answered where a text of one line is its own title", () => {
    expect(readSentences("When was the gate opened?", [{ title: GATES, text: GATES }])).toEqual([])
  })

  it.each([
    ["When did pump 12 start?", PUMPS, "Pump 12 started at 08:11."],
    ["When was the lock opened?", GATES, "The lock was opened in June."],
    ["Who bought the crane?", BOATS, "Olaf bought the crane."],
    ["When does the tower open?", HOURS, "Opens at 10."],
    ["When was the gate opened?", "The gate is of oak. It was opened in June.", "It was opened in June."],
    [
      "Who bought the boat?",
      "The boat was for sale in May. Olaf bought it in June.",
      "Olaf bought it in June."
    ],
    [
      "Is the pump connected at night?",
      "The pump is disconnected at night.",
      "The pump is disconnected at night."
    ]
  ])("is answered where it is said of that one: %s %s", (question, text, answer) => {
    expect(read(question, text)).toBe(answer)
  })
})
