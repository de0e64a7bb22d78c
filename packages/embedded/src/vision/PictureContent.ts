/** The content of a picture, and its description when no line of it answers the question. */
import type { ColourShare } from "./Colours.ts"
import type { OcrLine } from "./OcrLine.ts"

export interface PictureContent {
  /** In pixels, upright. */
  readonly width: number
  readonly height: number
  readonly colours: ReadonlyArray<ColourShare>
  /** In reading order. */
  readonly lines: ReadonlyArray<OcrLine>
}

interface Phrases {
  readonly noAnswer: string
  readonly picture: (number: number, width: number, height: number, colours: string) => string
  readonly text: string
  readonly noText: string
  readonly colours: Readonly<Record<ColourShare["name"], string>>
}

const ENGLISH: Phrases = {
  noAnswer: "No text in the picture answers the question.",
  picture: (number, width, height, colours) => `Picture ${number}: ${width} × ${height} pixels, ${colours}.`,
  text: "Its text:",
  noText: "It has no readable text.",
  colours: {
    black: "black",
    grey: "grey",
    white: "white",
    red: "red",
    orange: "orange",
    brown: "brown",
    yellow: "yellow",
    green: "green",
    cyan: "cyan",
    blue: "blue",
    purple: "purple",
    pink: "pink"
  }
}

const CHINESE: Phrases = {
  noAnswer: "图中的文字没有回答这个问题。",
  picture: (number, width, height, colours) => `图 ${number}：${width} × ${height} 像素，${colours}。`,
  text: "图中文字：",
  noText: "图中没有可以识别的文字。",
  colours: {
    black: "黑色",
    grey: "灰色",
    white: "白色",
    red: "红色",
    orange: "橙色",
    brown: "棕色",
    yellow: "黄色",
    green: "绿色",
    cyan: "青色",
    blue: "蓝色",
    purple: "紫色",
    pink: "粉色"
  }
}

/** Size, colours and text of each picture, in the language of the question: English or Chinese. */
export const describePictures = (question: string, contents: ReadonlyArray<PictureContent>): string => {
  const phrases = /\p{Script=Han}/u.test(question) ? CHINESE : ENGLISH
  const pictures = contents.map(({ colours, height, lines, width }, i) => {
    const shares = colours.map(({ name, share }) => `${phrases.colours[name]} ${Math.round(share * 100)} %`)
    const head = phrases.picture(i + 1, width, height, shares.join(", "))
    const text = lines.map((line) => line.text).join("\n")
    return text === "" ? `${head} ${phrases.noText}` : `${head} ${phrases.text}\n${text}`
  })
  return [phrases.noAnswer, ...pictures].join("\n")
}
