/** Yes-no questions, and sentences with only words of the question. */
import { readSentences } from "@sluice/embedded"
import { describe, expect, it } from "vitest"

const answer = (question: string, text: string) =>
  readSentences(question, [{ title: "Rules", text }]).map((sentence) => sentence.text)

const dogs = "Dogs are not allowed on the quay. Bicycles are allowed on the quay."
const leash = "Dogs must be kept on a leash. Cats must be kept in a box."
const deck = "Smoking is permitted on deck. Cooking is prohibited on deck."
const visitors = "Visitors may enter without a pass. Contractors may not enter without a pass."
const open = "The lock is always open. The weir is never open."
const faq = "**Is fishing allowed here?**\n\nFishing is allowed here."

describe("a yes-no question", () => {
  it.each([
    ["Are dogs allowed on the quay?", dogs, "Dogs are not allowed on the quay."],
    ["Are bicycles allowed on the quay?", dogs, "Bicycles are allowed on the quay."],
    ["dogs allowed on the quay", dogs, "Dogs are not allowed on the quay."],
    ["Can you tell me whether dogs are allowed on the quay?", dogs, "Dogs are not allowed on the quay."],
    ["Must dogs be kept on a leash?", leash, "Dogs must be kept on a leash."],
    ["Must cats be kept in a box?", leash, "Cats must be kept in a box."],
    ["Is smoking permitted on deck?", deck, "Smoking is permitted on deck."],
    ["May visitors enter without a pass?", visitors, "Visitors may enter without a pass."],
    ["May contractors enter without a pass?", visitors, "Contractors may not enter without a pass."],
    ["Is fishing allowed here?", faq, "Fishing is allowed here."],
    ["甲板上可以吸烟吗？", "甲板上可以吸烟。", "甲板上可以吸烟。"],
    ["自行车可以上码头吗？", "狗不可以上码头。自行车可以上码头。", "自行车可以上码头。"]
  ])("is answered by the statement that says its words: %s", (question, text, said) => {
    expect(answer(question, text)).toEqual([said])
    expect(answer(question, text.replace(/(?<=[.。]) ?(?=.)/g, "\n\n"))).toEqual([said])
  })

  it("is answered by items and rows", () => {
    const items = "- Dogs are not allowed on the quay\n- Bicycles are allowed on the quay"
    expect(answer("Are bicycles allowed on the quay?", items)).toEqual(["Bicycles are allowed on the quay"])
    const rows = "| Animal | Allowed |\n|---|---|\n| Dogs | no |\n| Cats | yes |"
    expect(answer("Are dogs allowed?", rows)).toEqual(["Animal: Dogs · Allowed: no"])
  })

  it("is not answered by itself, with or without its mark", () => {
    expect(answer("Are dogs allowed on the quay?", "- Are dogs allowed on the quay\n")).toEqual([])
    expect(answer("Are dogs allowed on the quay?", "Dogs allowed on the quay\n")).toEqual([])
  })
})

describe("a question that is not yes-no", () => {
  it("is answered by a short word that the question lacks", () => {
    expect(answer("When is the lock open?", open)).toEqual(["The lock is always open."])
    expect(answer("When is the weir open?", open)).toEqual(["The weir is never open."])
    expect(answer("Who may open the gate?", "Anyone may open the gate.")).toHaveLength(1)
  })

  it("is not answered by a sentence that repeats it, nor by the next", () => {
    expect(answer("When is the gate open?", "The gate is open. The mill is closed.")).toEqual([])
    expect(answer("Describe the lock gate", "Describe the lock gate.")).toEqual([])
  })
})
