/** What there is to say of pictures when no line in them answers the question. */
import type { Seen } from "./Seen.ts"

interface Words {
  readonly nothing: string
  readonly picture: (at: number, width: number, height: number, colours: string) => string
  readonly text: string
  readonly noText: string
  readonly colours: Readonly<Record<Seen["colours"][number]["name"], string>>
}

const ENGLISH: Words = {
  nothing: "Nothing that is written in the picture answers the question.",
  picture: (at, width, height, colours) => `Picture ${at}: ${width} × ${height} pixels, ${colours}.`,
  text: "Its text:",
  noText: "It has no text that can be read.",
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

const CHINESE: Words = {
  nothing: "图中的文字没有回答这个问题。",
  picture: (at, width, height, colours) => `图 ${at}：${width} × ${height} 像素，${colours}。`,
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

/** In the language of the question, Chinese or English: size, colours and text of each picture. */
export const describe = (question: string, seen: ReadonlyArray<Seen>): string => {
  const words = /\p{Script=Han}/u.test(question) ? CHINESE : ENGLISH
  const pictures = seen.map(({ colours, height, lines, width }, i) => {
    const named = colours.map(({ name, share }) => `${words.colours[name]} ${Math.round(share * 100)} %`)
    const head = words.picture(i + 1, width, height, named.join(", "))
    const text = lines.map((line) => line.text).join("\n")
    return text === "" ? `${head} ${words.noText}` : `${head} ${words.text}\n${text}`
  })
  return [words.nothing, ...pictures].join("\n")
}
