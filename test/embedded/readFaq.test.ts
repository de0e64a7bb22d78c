import { readSentences } from "@sluice/embedded"
import { describe, expect, it } from "vitest"

const read = (question: string, text: string, title = "Handbook") =>
  readSentences(question, [{ title, text }])
const answer = (question: string, text: string) => read(question, text).map((sentence) => sentence.text)
const quotes = (question: string, text: string) =>
  read(question, text).flatMap(({ evidence }) => evidence.map(({ quote }) => quote))

describe("readSentences, for questions and answers,", () => {
  it("answers with the text after a question in bold, not with the question", () => {
    const faq =
      "# FAQ\n\n**How do I get a refund?**\n\nWrite to billing within 30 days.\n\n" +
      "**How do I change my password?**\n\nOpen settings, choose security.\n\n**May I swim in the lock?**\n\nNo, never.\n"
    expect(answer("How do I get a refund?", faq)).toEqual(["Write to billing within 30 days."])
    expect(answer("How do I change my password?", faq)).toEqual(["Open settings, choose security."])
    expect(quotes("May I swim in the lock?", faq)).toEqual(["No, never."])
    expect(answer("Who mends the weir gates?", faq)).toEqual([])
  })

  it("accepts an answer of stop words, but none without a word", () => {
    const faq = "**Is fishing allowed here?**\n\nIt is.\n\n**May I swim in the lock?**\n\n…\n"
    expect(answer("Is fishing allowed here?", faq)).toEqual(["It is."])
    expect(answer("May I swim in the lock?", faq)).toEqual([])
  })

  it("understands Q and A", () => {
    const faq =
      "Q: How do I moor at night?\nA: Ring the bell twice.\n\n**Q:** Who feeds the swans?\n**A:** Mrs Tilly."
    expect(quotes("How do I moor at night?", faq)).toEqual(["Ring the bell twice."])
    expect(quotes("Who feeds the swans?", faq)).toEqual(["Mrs Tilly."])
    expect(quotes("谁喂天鹅？", "问：谁喂天鹅？\n答：李女士。\n")).toEqual(["李女士。"])
  })

  it("answers with what follows a question in the same paragraph", () => {
    const text = "Who feeds the swans? The keeper does.\n\nThe mill is closed on Sunday."
    expect(answer("Who feeds the swans?", text)).toEqual(["The keeper does."])
  })

  it("answers by the date in the heading, not by another", () => {
    const log =
      "# Log\n\n## 2024-03-01\n\nThe gate jammed.\n\n## 2024-03-10\n\nThe gate was greased.\n\n## 2023-10-03\n\nIt was painted.\n"
    expect(answer("What happened on 2024-03-10?", log)).toEqual(["The gate was greased."])
    expect(answer("What happened on 2024-03-11?", log)).toEqual([])
  })
})
