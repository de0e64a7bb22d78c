/** Our own questions about short texts, in `test/qa/plain`. */
import { join } from "node:path"
import type { ReaderPassage } from "@sluice/core/models"
import { readJsonLines } from "../jsonLines.ts"
import type { Example } from "./Example.ts"

interface PlainQuestion {
  readonly question: string
  readonly title?: string
  readonly text?: string
  readonly passages?: ReadonlyArray<ReaderPassage>
  readonly passage?: number
  readonly start?: number
  readonly answer?: string
}

export const plainExamples = (set: string, file: string): ReadonlyArray<Example> =>
  readJsonLines<PlainQuestion>(join(import.meta.dirname, "../../test/qa/plain", file)).map((one, i) => {
    const { answer, passage = 0, question, start, text = "", title = "" } = one
    const { passages = [{ title, text, format: "markdown" }] } = one
    return {
      set,
      language: "",
      id: `${i}`,
      kind: answer === undefined ? "none" : "keyword",
      question,
      gold: {
        path: `${passage}`,
        starts: start === undefined ? [] : [start],
        texts: answer === undefined ? [] : [answer]
      },
      passages: passages.map((read, at) => ({ ...read, path: `${at}`, start: 0 }))
    }
  })
