/** The turns of a chat before its last question. */
import type { ChatMessage } from "@sluice/core"
import type { ConversationTurn } from "@sluice/core/models"
import { MAX_TEXT } from "../contract/Filter.ts"
import { messageText } from "../embedded/Conversation.ts"

/** Turns that are read back. */
const MAX_TURNS = 20

/** Each message of the user with the reply that follows it. System prompts are not read. */
export const chatHistory = (messages: ReadonlyArray<ChatMessage>): ReadonlyArray<ConversationTurn> => {
  const before = messages.slice(
    0,
    messages.findLastIndex(({ role }) => role === "user")
  )
  return before
    .flatMap((message, at): ReadonlyArray<ConversationTurn> => {
      const question = messageText(message).trim().slice(0, MAX_TEXT)
      if (message.role !== "user" || question === "") return []
      const next = before[at + 1]
      const answer = next?.role === "assistant" ? messageText(next).slice(0, MAX_TEXT) : ""
      return [answer === "" ? { question } : { question, answer }]
    })
    .slice(-MAX_TURNS)
}
