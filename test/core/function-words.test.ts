import { questionLanguage, searchedWords, withoutFunctionWords } from "@sluice/core/text"
import { describe, expect, it } from "vitest"

describe("function words of a question", () => {
  it.each([
    ["How often are the pumps greased?", "en"],
    ["Wie oft werden die Pumpen geschmiert?", "de"],
    ["Quand est-ce que la porte est ouverte ?", "fr"],
    ["¿Cuándo se abre la compuerta?", "es"],
    ["闸门什么时候打开？", "zh"],
    ["pump", "en"]
  ])("tell the language of: %s", (question, language) => {
    expect(questionLanguage(question)).toBe(language)
  })

  it("are left out in German, French and Spanish", () => {
    const words = (question: string) => withoutFunctionWords(question).match(/\p{L}+/gu)
    expect(words("Wie oft werden die Pumpen geschmiert?")).toEqual(["Pumpen", "geschmiert"])
    expect(words("Quand est-ce que la porte est ouverte ?")).toEqual(["porte", "ouverte"])
    expect(words("¿Cuándo se abre la compuerta?")).toEqual(["abre", "compuerta"])
    expect(withoutFunctionWords("How often are the pumps greased?")).toBe("How often are the pumps greased?")
    expect(withoutFunctionWords("Was ist das?")).toBe("Was ist das?")
  })

  it("are searched where one word alone may be another language's", () => {
    for (const english of ["die casting", "When didn't Trent's company reach Fort Le Boeuf?"])
      expect(searchedWords(english)).toBe(english)
    expect(searchedWords("Wo wird die Pumpe geschmiert?").match(/\p{L}+/gu)).toEqual(["Pumpe", "geschmiert"])
  })
})
