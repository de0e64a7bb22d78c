/** Requests that chat pages send beside the questions of people: for a title, tags, or follow-up questions. */

/** How the default prompts of Open WebUI and LibreChat begin. */
const PROMPTS = [
  /^### Task:[\s\S]*<chat_history>/,
  /^Provide a concise, 5-word-or-less title for the conversation/,
  /^Analyze this conversation and provide:/
]

/** Characters of a title at most. */
const TITLE_LENGTH = 60

/**
 * The reply to such a request; undefined for a question. The title is the first question. It calls no model, because
 * passages of a library say nothing about a conversation.
 *
 * **Details.** Open WebUI reads one field of a JSON object, LibreChat the text.
 */
export const chatTaskReply = (text: string): string | undefined => {
  if (!PROMPTS.some((prompt) => prompt.test(text))) return undefined
  const [, first = "Chat"] = /^[ \t]*user:\s*(\S.*)$/im.exec(text) ?? []
  const title = first.trim().slice(0, TITLE_LENGTH)
  return text.startsWith("### Task:")
    ? JSON.stringify({ title, tags: [], follow_ups: [], queries: [], text: "" })
    : title
}
