/** What a chat carries beside its texts, which its model reads as well: tools, schemas, what tools were asked. */
import type { ChatContent, ChatRequest } from "@sluice/core/contract"

/** Of the usual form, the characters around the texts of a request, and of a message: nothing is looked for below. */
const AROUND = 128
const AROUND_A_MESSAGE = 48

/** Of texts that quotes, line ends and other escapes make longer, one in so many characters at most as a rule. */
const ESCAPED = 16

const lengthOf = (content: ChatContent | undefined): number => {
  if (typeof content !== "object") return content?.length ?? 0
  return content.reduce(
    (sum, part) => sum + (part.type === "text" ? part.text : part.image_url.url).length,
    0
  )
}

type Fields = Readonly<Record<string, unknown>>

const COUNTED = new Set([
  "model",
  "messages",
  "max_tokens",
  "max_completion_tokens",
  "n",
  "stream",
  "stream_options",
  "temperature"
])
const COUNTED_OF_A_MESSAGE = new Set(["role", "content"])

/** What is nested too deeply to be written again has no more characters than the body. */
const sizeBeside = (counted: ReadonlySet<string>, fields: Fields, body: string): number => {
  const others = Object.entries(fields).filter(([name]) => !counted.has(name))
  if (others.length === 0) return 0
  try {
    return JSON.stringify(Object.fromEntries(others)).length
  } catch {
    return body.length
  }
}

/**
 * Its characters, of which a token has one at least; 0 where the body is no longer than the usual form of its texts.
 *
 * **Details.** Most bodies are told apart by their length alone; only longer ones are read once more.
 */
export const nonTextCharacters = ({ messages, model }: ChatRequest, body: string): number => {
  const texts = messages.reduce((sum, { content }) => sum + lengthOf(content), 0)
  const usual = texts + texts / ESCAPED + AROUND + model.length + AROUND_A_MESSAGE * messages.length
  if (body.length <= usual) return 0
  const fields = JSON.parse(body) as Fields & { readonly messages: ReadonlyArray<Fields> }
  return fields.messages.reduce(
    (sum, message) => sum + sizeBeside(COUNTED_OF_A_MESSAGE, message, body),
    sizeBeside(COUNTED, fields, body)
  )
}
