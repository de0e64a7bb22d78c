/** Questions about a thing in the passages that the passages do not answer. */
import { describe, expect, it } from "vitest"
import { readSentences } from "@sluice/embedded"

describe("readSentences, for facts that the passages do not state", () => {
  it.each([
    ["Who owns the tea room?", "The tea room in the former stables is open every day but Tuesday."],
    ["Who painted the lock house?", "Ida Thornbury, head keeper since 2011, lives in the lock house."],
    ["When was the footbridge built?", "When it freezes, salt is spread on the footbridge before opening."],
    ["When was the mill opened?", "The mill has stopped its wheel in dry summers since 1871."],
    ["How many swans nest on the island?", "Swans nest on the island; the mower stays ten metres away."],
    ["How many lockings were there in 1998?", "In the summer of 2022 the lock had 3,212 lockings."],
    ["How long is the eel pass?", "The eel pass is cleared every second day from May to September."],
    ["How much does the diesel generator weigh?", "The diesel generator starts within 12 seconds."],
    ["What did the radar sensor cost?", "The radar sensor reports every 10 minutes."],
    ["What colour is the cat Bollard?", "The lock cat is called Bollard."],
    ["What is the keeper's telephone number?", "The telephone of the keeper is on the wall, number 2."],
    ["How does the lock encrypt its messages?", "The lock listens on channel 20."],
    ["What is the battery life of the radar sensor?", "The radar sensor reports every 10 minutes."],
    ["Which sailing school did the apprentices attend?", "Four apprentices and the keeper bake bread."],
    ["How many engineers live at the lock?", "In 2011 the engineer lived at the lock."],
    ["How does the lock heat its cabin?", "The lock has a cabin on the upper gate."],
    ["船闸长多少米？", "船闸位于水道41.7公里处，1868年建成。"]
  ])("%s", (question, text) => {
    expect(readSentences(question, [{ title: "The lock", text }])).toEqual([])
  })

  it.each([
    ["Who leads the tour?", "Mei Lindqvist leads a tour of the lock."],
    ["How wide is the chamber?", "| Measure | Value |\n|---|---|\n| Usable width of the chamber | 6.2 m |"],
    ["What does the crane cost?", "| Work | Cost |\n|---|---|\n| Crane | 900 crowns |"],
    ["When was the weir built?", "The weir was built in 1868."],
    ["When was the weir built?", "The weir, the oldest of all, dates from 1868."],
    [
      "How long is the canal from Harrow to the sea?",
      "The canal from Harrow to the sea runs for 47 kilometres."
    ],
    ["How many steam engines does the lock have?", "The lock has two steam engines and a pump."],
    ["What is the purpose of the shear pin?", "The shear pin breaks before the gearbox does."],
    ["How many swans nest on the island?", "Four swans nest on the island."],
    ["What colour is the cat?", "The cat is a grey one."],
    ["船闸长多少米？", "船闸长38米，宽6米。"]
  ])("%s is answered where it is", (question, text) => {
    expect(readSentences(question, [{ title: "The lock", text }])).not.toEqual([])
  })
})
