/** Each line of a list in plain text is read by itself. */
import { readSentences } from "@sluice/embedded"
import { describe, expect, it } from "vitest"

const lines = (line: (i: number) => string, count = 20) => Array.from({ length: count }, (_, i) => line(i))
const shown = (question: string, text: string, format = "text") =>
  readSentences(question, [{ title: "List", text, format }]).map(({ evidence }) => evidence[0]?.quote)

describe("a list without marks is read line by line", () => {
  it.each([
    [
      "telephones",
      lines((i) => `Person${i} Lund    +47 22 00 ${10 + i}    room ${100 + i}`).join("\n"),
      "Which room has Person7 Lund?",
      "Person7 Lund    +47 22 00 17    room 107"
    ],
    [
      "a log with what belongs to a line indented",
      lines((i) => `2025-03-02 08:${10 + i} pump ${i} failed.\n    at valve ${i}`).join("\n"),
      "When did pump 7 fail?",
      "2025-03-02 08:17 pump 7 failed.\n    at valve 7"
    ],
    [
      "words and what they mean",
      lines((i) => `gate${i}: ${["opened at noon by the mate", "painted blue by Olaf"][i % 2]}`).join("\n"),
      "Who painted gate7?",
      "gate7: painted blue by Olaf"
    ],
    [
      "JSON Lines",
      lines((i) => JSON.stringify({ pump: `P${i}`, started: `08:${10 + i}`, by: "Olaf" })).join("\n"),
      "When was pump P7 started?",
      '{"pump":"P7","started":"08:17","by":"Olaf"}'
    ],
    [
      "JSON",
      JSON.stringify(
        lines((i) => `P${i}`).map((pump, i) => ({ pump, started: `08:${10 + i}` })),
        null,
        2
      ),
      "When was pump P7 started?",
      '{\n    "pump": "P7",\n    "started": "08:17"'
    ]
  ] as const)("%s", (_, text, question, quote) => {
    expect(shown(question, text)).toEqual([quote])
  })

  it("prose and short blocks are not lists", () => {
    const prose =
      "The lower gate of the lock at the weir is opened by the mate\nof the watch at noon, when the level is\nright on both sides of it and no boat is\nwaiting in the chamber, and closed again\n".repeat(
        3
      )
    expect(shown("Who opens the lower gate?", prose)[0]).toContain("right on both sides")
    const chinese =
      "下闸门由值班的大副在正午打开那时两边的水位\n正好而且闸室里没有船在等候然后再次关上\n".repeat(12)
    expect(shown("谁打开下闸门？", chinese)[0]).toContain("水位\n正好")
    const card = "Olaf Berg\nMain Street 4\nTelephone 555 12"
    expect(shown("What is the telephone of Olaf Berg?", card)).toEqual([card])
  })

  it.each([": ", "   ", "=", "\t"])(
    "does not split the data sheet of one thing, whose fields are separated by %j",
    (mark) => {
      const fields =
        "Name Position Department Telephone Room Deputy Languages Hours Since Vehicle Locker".split(" ")
      const sheet = fields
        .map(
          (field, i) =>
            `${field}${mark}${i === 0 ? "Olaf Berg" : `what stands for ${i} in the file of staff`}`
        )
        .join("\n")
      for (const text of [
        sheet,
        `STAFF\n${sheet}`,
        JSON.stringify(Object.fromEntries(sheet.split("\n").map((line) => line.split(mark))), null, 2)
      ])
        expect(shown("What is the telephone of Olaf Berg?", text)[0]).toContain("what stands for 3 in")
    }
  )
})
