/** Chat responses with content in parts, refusals in a field of their own, numeric finish reasons, and token counts of any form. */
import { Predicate } from "effect"
import { tolerateItems } from "./Items.ts"

/** A message or delta whose content is text: a refusal, if there is no other. Parts of another kind, such as reasoning, are kept in `content_parts`. */
const withText = (message: unknown): unknown => {
  if (!Predicate.isObject(message)) return message
  const { content, refusal } = message
  if (!content && typeof refusal === "string") return { ...message, content: refusal }
  const parts: ReadonlyArray<unknown> = Array.isArray(content) ? content : [content]
  if (!parts.some((part) => Predicate.isObject(part))) return message
  const texts = parts.map((part) => (Predicate.isObject(part) ? part["text"] : part))
  const isPlain = texts.every((text) => typeof text === "string")
  return {
    ...message,
    content: texts.filter((text) => typeof text === "string").join(""),
    ...(!isPlain && { content_parts: parts })
  }
}

const withTextOf =
  (name: "message" | "delta") =>
  (choice: unknown): unknown => {
    if (!Predicate.isObject(choice)) return choice
    const { finish_reason, ...rest } = choice
    return {
      ...rest,
      ...(typeof finish_reason === "string" && { finish_reason }),
      ...(name in choice && { [name]: withText(choice[name]) })
    }
  }

/** A whole response in the contract's form. */
export const tolerateChat = tolerateItems("choices", (choices) => choices.map(withTextOf("message")))

/** A piece of a stream in the contract's form. */
export const tolerateChunk = tolerateItems("choices", (choices) => choices.map(withTextOf("delta")))
