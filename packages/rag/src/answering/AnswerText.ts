/** An answer as text, in the question's language. */
import { isChinese, LIST_SIGN } from "@sluice/core/text"
import type { Answer, AnsweredPart, AnswerSentence } from "./Answer.ts"

/** The sentences with their `[n]`, or why there are none, and notes about what is missing. */
export const answerText = (answer: Omit<Answer, "answer">): string => {
  const { dropped, found, notRead, question, sentences, unsupported } = answer
  const marked = sentences.filter((sentence) => sentence.unsupported !== undefined).length
  const chinese = isChinese(question)
  const missing = found ? (answer.parts ?? []).filter((part) => !part.found) : []
  const notes = [
    ...(missing.length > 0 ? [missingNote(chinese, missing)] : []),
    ...(found && notRead !== undefined ? [incompleteNote(chinese, notRead.message)] : []),
    ...(dropped > 0 ? [droppedNote(chinese, dropped)] : []),
    ...(unsupported > marked ? [unsupportedNote(chinese, unsupported - marked)] : [])
  ]
  const text = found ? [joinSentences(sentences), ...notes] : noAnswer(chinese, answer, notes)
  return text.join(chinese ? "" : " ")
}

/** Items of lists, and rows of tables, in Markdown. */
const BLOCKS = [LIST_SIGN, /^\|/]

const blockOf = (line: string): number => BLOCKS.findIndex((block) => block.test(line))

/** Chinese has no space between sentences. Items of lists and rows of tables have lines of their own. */
export const joinSentences = (sentences: ReadonlyArray<AnswerSentence>): string =>
  sentences.map(citedText).reduce((text, next) => {
    const before = blockOf(text.slice(text.lastIndexOf("\n") + 1))
    const after = blockOf(next)
    const gap = before !== after ? "\n\n" : after >= 0 ? "\n" : isChinese(next) ? "" : " "
    return text + gap + next
  })

const citedText = ({ citations, text, unsupported }: AnswerSentence): string => {
  const [space, mark] = isChinese(text) ? ["", "（未证实）"] : [" ", " (unsupported)"]
  const numbers = `${space}${citations.map((n) => `[${n}]`).join("")}${unsupported === undefined ? "" : mark}`
  // In the last cell of a row, so that it stays a table.
  return text.startsWith("|") && text.endsWith("|")
    ? `${text.slice(0, -1).trimEnd()}${numbers} |`
    : text + numbers
}

/** Why there is no answer. The closest passages follow the text, so their title is last. */
const noAnswer = (
  chinese: boolean,
  { closest, notRead }: Omit<Answer, "answer">,
  notes: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const title = closest.length === 0 ? [] : [chinese ? "最接近的段落：" : "Closest passages:"]
  if (notRead !== undefined) {
    const unread = chinese ? "模型的回答无法读取。" : "The model's answer could not be read. "
    return [`${unread}${notRead.message} ${notRead.advice}`, ...notes, ...title]
  }
  if (closest.length > 0) return [chinese ? "没有确定的答案。" : "No sure answer.", ...notes, ...title]
  return [
    chinese ? "在这些文档中没有找到这个问题的答案。" : "The documents do not answer this question.",
    ...notes
  ]
}

const missingNote = (chinese: boolean, parts: ReadonlyArray<AnsweredPart>): string => {
  const questions = parts.map(({ question }) => question).join(chinese ? "；" : "; ")
  return chinese ? `（文档中没有回答：${questions}）` : `(The documents do not answer: ${questions})`
}

const incompleteNote = (chinese: boolean, message: string): string =>
  chinese ? `（回答不完整：${message}）` : `(This answer is incomplete. ${message})`

const droppedNote = (chinese: boolean, count: number): string => {
  if (chinese) return `（略去了 ${count} 句：其引文不在所引的文档中。）`
  return count === 1
    ? "(A sentence was left out: its quote was not found in the cited document.)"
    : `(${count} sentences were left out: their quotes were not found in the cited documents.)`
}

const unsupportedNote = (chinese: boolean, count: number): string => {
  if (chinese) return `（略去了 ${count} 句：其引文不足以证实。）`
  return count === 1
    ? "(A sentence was left out: its quotes do not support it.)"
    : `(${count} sentences were left out: their quotes do not support them.)`
}
