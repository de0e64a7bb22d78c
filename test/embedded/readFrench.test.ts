import { describe, expect, it } from "vitest"
import { questionTypeOf } from "../../packages/embedded/src/reader/QuestionType.ts"

describe("a French question", () => {
  it("asks whether with the pronoun after the verb, if no question word asks for something else", () => {
    expect(
      [
        "Les chaises sont-elles pliantes ?",
        "Acceptez-vous les chèques ?",
        "Quel code doit-on saisir ?",
        "Comment peut-on annuler ?",
        "Que faut-il apporter ?",
        "Où est le point de rendez-vous ?"
      ].map((question) => questionTypeOf(question).type)
    ).toEqual(["whether", "whether", "which", "how", "which", "where"])
  })

  it("asks for a rate, a duration or a price as in English", () => {
    expect(
      [
        "Combien de fois par an passe le ramoneur ?",
        "Combien de semaines dure le stage ?",
        "Dans quel délai répondez-vous ?",
        "Quel est le loyer du garage ?",
        "Combien de fois a-t-elle gagné ?"
      ].map((question) => questionTypeOf(question).type)
    ).toEqual(["often", "duration", "duration", "cost", "count"])
  })
})
