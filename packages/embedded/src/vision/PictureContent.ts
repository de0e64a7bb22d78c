/** The content of a picture, and its description when no line of it answers the question. */
import { isChinese } from "@sluice/core/text"
import { CHINESE_COLOURS, type ColourShare } from "./Colours.ts"
import type { OcrLine } from "./OcrLine.ts"

export interface PictureContent {
  /** In pixels, upright. */
  readonly width: number
  readonly height: number
  readonly colours: ReadonlyArray<ColourShare>
  /** In reading order. */
  readonly lines: ReadonlyArray<OcrLine>
}

const ENGLISH = {
  noAnswer: "No text in the picture answers the question.",
  picture: (number: number, width: number, height: number, colours: string) =>
    `Picture ${number}: ${width} × ${height} pixels, ${colours}.`,
  text: "Its text:",
  noText: "It has no readable text.",
  colour: (name: ColourShare["name"]): string => name
}

const CHINESE: typeof ENGLISH = {
  noAnswer: "图中的文字没有回答这个问题。",
  picture: (number, width, height, colours) => `图 ${number}：${width} × ${height} 像素，${colours}。`,
  text: "图中文字：",
  noText: "图中没有可以识别的文字。",
  colour: (name) => CHINESE_COLOURS[name]
}

/** Size, colours and text of each picture, in the language of the question: English or Chinese. */
export const describePictures = (question: string, contents: ReadonlyArray<PictureContent>): string => {
  const phrases = isChinese(question) ? CHINESE : ENGLISH
  const pictures = contents.map(({ colours, height, lines, width }, i) => {
    const shares = colours.map(({ name, share }) => `${phrases.colour(name)} ${Math.round(share * 100)} %`)
    const head = phrases.picture(i + 1, width, height, shares.join(", "))
    const text = lines.map((line) => line.text).join("\n")
    return text === "" ? `${head} ${phrases.noText}` : `${head} ${phrases.text}\n${text}`
  })
  return [phrases.noAnswer, ...pictures].join("\n")
}
