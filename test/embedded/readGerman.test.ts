import { readSentences } from "@sluice/embedded"
import { describe, expect, it } from "vitest"
import { questionTypeOf } from "../../packages/embedded/src/reader/QuestionType.ts"

const answer = (question: string, text: string) =>
  readSentences(question, [{ title: "x", text, format: "markdown" }]).map(({ text }) => text)

const RENT = `# Vertrag

Die monatliche Miete beträgt 1.450 Euro. Der Hof wird gemeinsam genutzt.

Der Schlüssel liegt bei der Nachbarin. Die Treppe wird jeden Freitag gereinigt.`

describe("a German question", () => {
  it("is answered by the words that it is about, not by articles and question words", () => {
    expect(answer("Was kostet die Miete?", RENT)).toEqual(["Die monatliche Miete beträgt 1.450 Euro."])
    expect(answer("Wann wird die Treppe gereinigt?", RENT)).toEqual([
      "Die Treppe wird jeden Freitag gereinigt."
    ])
    expect(answer("Wer ist der Hausmeister?", RENT)).toEqual([])
    expect(answer("Was kostet die Kaution?", RENT)).toEqual([])
  })

  it("is answered by what stands below a section's heading, not by the heading", () => {
    const contract = (section: string) =>
      readSentences("Gibt es eine Kaution?", [
        {
          title: "Mietvertrag",
          text: `Mietvertrag\n\n${section}\n\nDer Mieter leistet eine Sicherheit in Höhe von drei Monatsmieten.\n\n§ 5 Tiere\n\nHunde sind erlaubt.`
        }
      ]).map(({ text }) => text)
    for (const section of ["§ 4 Kaution", "Artikel 4 Kaution", "**§ 4a Kaution**"])
      expect(contract(section)).toEqual(["Der Mieter leistet eine Sicherheit in Höhe von drei Monatsmieten."])
    // A sentence that begins so is one.
    expect(contract("§ 4 regelt die Kaution: 850 Euro.")).toEqual(["§ 4 regelt die Kaution: 850 Euro."])
  })

  it("for a price is answered by the row of the article", () => {
    const prices = "| Artikel | Preis |\n|---|---|\n| Walnussbrot | 4,80 |\n| Brezel | 1,60 |"
    expect(answer("Was kostet das Walnussbrot?", prices)).toEqual(["Artikel: Walnussbrot · Preis: 4,80"])
    expect(answer("Was kostet das Roggenbrot?", prices)).toEqual([])
  })
})

describe("a Chinese question for an amount", () => {
  it("is answered by Chinese numerals with any usual unit", () => {
    expect(answer("冰箱的温度不得超过多少？", "冰箱温度不得超过五摄氏度。")).toEqual([
      "冰箱温度不得超过五摄氏度。"
    ])
    expect(answer("一袋面粉多重？", "一袋面粉重二十五公斤。")).toEqual(["一袋面粉重二十五公斤。"])
  })
})

describe("what a question asks for", () => {
  it("is known from the words of asking, also where few words tell the language", () => {
    const typeOf = (question: string) => questionTypeOf(question).type
    expect(typeOf("Was kostet Glocke?")).toBe("cost")
    expect(typeOf("Was bedeutet Rhodophyta?")).toBe("definition")
    expect(typeOf("Was muss ich mitbringen?")).toBe("which")
    expect(typeOf("Was the ferry late?")).toBe("whether")
    expect(typeOf("Who won the Grand Prix?")).toBe("who")
    expect(typeOf("When opens the gate? 船闸开放")).toBe("when")
  })
})
