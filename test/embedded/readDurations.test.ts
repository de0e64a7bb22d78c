/** “How long is …” asks for a duration or a length of the thing itself. */
import { readSentences } from "@sluice/embedded"
import { describe, expect, it } from "vitest"

const answer = (question: string, text: string) =>
  readSentences(question, [{ title: "Handbook", text }]).map((sentence) => sentence.text)

describe("how long something is", () => {
  it.each([
    ["How long is the notice period?", "The notice period is 3 months."],
    ["How long is the notice period?", "The notice period is six weeks."],
    ["How long is the notice period?", "Notice period: 6 weeks"],
    ["How long is the notice period?", "Managers have a notice period of half a year."],
    ["How long is the notice period?", "A six-week notice period holds for all."],
    ["How long is the parental leave?", "Parental leave is at least fourteen weeks."],
    ["How long is the parental leave?", "There are fifteen weeks of parental leave."],
    ["How long is the warranty of the pump?", "The warranty of the pump is 24 months from delivery."],
    ["How long is a token valid?", "A token is valid for 30 days."],
    ["How long is an invoice kept?", "An invoice is kept in the archive for ten years."],
    ["How long are the doors locked?", "The doors are locked for 2 hours."],
    ["How long is the stone oven preheated?", "The stone oven is preheated for ninety minutes at 280 °C."],
    ["How long is the lock?", "The lock is 42 m long."],
    ["保修期多长？", "保修期为两年。"],
    ["水泵的保修期有多长？", "水泵的保修期一般为24个月。"],
    ["工期多长？", "工期约三个月。"],
    ["船闸有多长？", "船闸长38米，宽6米。"]
  ])("is answered by a time or a length of it: %s %s", (question, text) => {
    expect(answer(question, text)).toEqual([text])
  })

  it.each([
    ["How long is the boat?", "The boat is hired for two hours."],
    ["How long is the boat?", "The boat is three years old."],
    ["How long is the red boat?", "The red boat is closed for two days."],
    ["How long are the doors locked?", "The doors were painted for two days."],
    ["船闸多长？", "船闸每天开放十二小时。"],
    ["水泵多长？", "水泵的保修期为两年。"],
    ["保修期多长？", "保修期为2024年起的两期。"]
  ])("is not answered by a time of something else: %s %s", (question, text) => {
    expect(answer(question, text)).toEqual([])
  })
})
