/** An answer as text, in the question's language. */
import { isChinese, LIST_SIGN, questionLanguage } from "@sluice/core/text"
import type { Answer, AnswerSentence } from "./Answer.ts"
import { ANSWER_TEXTS } from "./AnswerTexts.ts"

/** The sentences with their `[n]`, or why there are none, and notes about what is missing. */
export const answerText = (answer: Omit<Answer, "answer">): string => {
  const { closest, dropped, found, notRead, question, sentences, unsupported } = answer
  const texts = ANSWER_TEXTS[questionLanguage(question)]
  const left = unsupported - sentences.filter((sentence) => sentence.unsupported !== undefined).length
  const missing = found ? (answer.parts ?? []).filter((part) => !part.found) : []
  const notes = [
    ...(missing.length > 0 ? [texts.missing(missing.map((part) => part.question))] : []),
    ...(found && notRead !== undefined ? [texts.incomplete(notRead.message)] : []),
    ...(dropped > 0 ? [texts.dropped(dropped)] : []),
    ...(left > 0 ? [texts.notSupported(left)] : [])
  ]
  if (found) return [joinSentences(sentences), ...notes].join(texts.space)
  const why =
    notRead !== undefined
      ? `${texts.unread}${texts.space}${notRead.message} ${notRead.advice}`
      : closest.length > 0
        ? texts.unsure
        : texts.none
  // The closest passages follow the text, so their title is last.
  return [why, ...notes, ...(closest.length > 0 ? [texts.closest] : [])].join(texts.space)
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
  const texts = ANSWER_TEXTS[questionLanguage(text)]
  const mark = unsupported === undefined ? "" : texts.space + texts.unsupported
  const numbers = `${texts.space}${citations.map((n) => `[${n}]`).join("")}${mark}`
  // In the last cell of a row, so that it stays a table.
  return text.startsWith("|") && text.endsWith("|")
    ? `${text.slice(0, -1).trimEnd()}${numbers} |`
    : text + numbers
}
