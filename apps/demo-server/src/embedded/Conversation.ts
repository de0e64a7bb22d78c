/** Splits a conversation for an extractive reader: the question, and the text that may answer it. */
import type { ChatMessage } from "@sluice/core"
import type { ReaderPassage } from "@sluice/core/models"
import type { ImagePart } from "@sluice/core/contract"
import { Option, Schema } from "effect"

export interface Conversation {
  readonly question: string
  readonly passages: ReadonlyArray<ReaderPassage>
  /** The passages are numbered lines of JSON, as `GatewayReader` of `@sluice/core` sends them. The reply needs the same form. */
  readonly cited: boolean
}

/** Whether a message has an image. */
export const hasImage = ({ content }: ChatMessage): boolean =>
  typeof content === "object" && content.some((part) => part.type === "image_url")

/** The images of a message. */
export const imagesOf = ({ content }: ChatMessage): ReadonlyArray<typeof ImagePart.Type> =>
  typeof content === "object" ? content.filter((part) => part.type === "image_url") : []

/** The text of a message. Its parts become paragraphs. */
export const messageText = ({ content }: ChatMessage): string =>
  typeof content === "object"
    ? content.map((part) => (part.type === "text" ? part.text : "")).join("\n\n")
    : (content ?? "")

const decodePassage = Schema.decodeOption(
  Schema.fromJsonString(
    Schema.Struct({
      passage: Schema.Int,
      title: Schema.String,
      text: Schema.String,
      format: Schema.optionalKey(Schema.String)
    })
  )
)
/** Stops at the first JSON line that is no passage: parsing all lines of a long text would take seconds. */
const passagesIn = (lines: ReadonlyArray<string>) => {
  const found = []
  for (const line of lines) {
    if (!line.trimStart().startsWith("{")) continue
    const passage = Option.getOrUndefined(decodePassage(line))
    if (passage === undefined) break
    found.push(passage)
  }
  return found
}

const decodeQuestion = Schema.decodeOption(Schema.fromJsonString(Schema.String))

const LABEL = /^\s*(?:question|query|q|问题|提问)\s*[:：]\s*/i
const ASKS = /[?？]\s*$/

/** The line of the question: the last labelled one, else the last that ends with a question mark, else the last. */
const questionLine = (lines: ReadonlyArray<string>): number => {
  const labelled = lines.findLastIndex((line) => LABEL.test(line) && line.replace(LABEL, "").trim() !== "")
  if (labelled >= 0) return labelled
  const asking = lines.findLastIndex((line) => ASKS.test(line))
  return asking >= 0 ? asking : lines.findLastIndex((line) => line.trim() !== "")
}

const paragraphs = (text: string): ReadonlyArray<ReaderPassage> =>
  text
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== "")
    .map((paragraph) => ({ title: "", text: paragraph }))

/**
 * Takes the question from the user's last message. The passages are the numbered ones in that message, or else all other
 * text that is not a reply.
 */
export const readConversation = (messages: ReadonlyArray<ChatMessage>): Conversation => {
  const last = messages.findLastIndex(({ role }) => role === "user")
  const text = messages[last] === undefined ? "" : messageText(messages[last])
  const lines = text.replace(/\n\s*\n/g, "\n\n").split("\n")
  const at = questionLine(lines)
  const line = (lines[at] ?? "").replace(LABEL, "").trim()
  const question = Option.getOrElse(decodeQuestion(line), () => line)

  const numbered = passagesIn(lines)
  if (numbered.length > 0 && numbered.every(({ passage }, position) => passage === position + 1)) {
    return { question, passages: numbered, cited: true }
  }
  const otherLines = lines.filter((_, position) => position !== at).join("\n")
  const otherTexts = messages
    .filter(({ role }, position) => role !== "assistant" && position !== last)
    .map((message) => messageText(message))
  return { question, passages: [...otherTexts, otherLines].flatMap(paragraphs), cited: false }
}
