/** An answer as text, in the question's language. */
import type { Answer, AnswerSentence } from "./Answer.ts"

/** The sentences with their `[n]`, or why there are none, and notes about what is missing. */
export const answerText = (answer: Omit<Answer, "answer">): string => {
  const { dropped, found, notRead, question, sentences, unsupported } = answer
  const marked = sentences.filter((sentence) => sentence.unsupported !== undefined).length
  const chinese = isChinese(question)
  const notes = [
    ...(found && notRead !== undefined ? [incompleteNote(chinese, notRead.message)] : []),
    ...(dropped > 0 ? [droppedNote(chinese, dropped)] : []),
    ...(unsupported > marked ? [unsupportedNote(chinese, unsupported - marked)] : [])
  ]
  return [found ? joinSentences(sentences) : noAnswer(chinese, answer), ...notes].join(chinese ? "" : " ")
}

/** Chinese has no space between sentences. */
const joinSentences = (sentences: ReadonlyArray<AnswerSentence>): string =>
  sentences
    .map(
      ({ citations, text, unsupported }) =>
        text +
        (isChinese(text) ? "" : " ") +
        citations.map((n) => `[${n}]`).join("") +
        (unsupported === undefined ? "" : isChinese(text) ? "（未证实）" : " (unsupported)")
    )
    .reduce((text, next) => text + (isChinese(next) ? "" : " ") + next)

const noAnswer = (chinese: boolean, { closest, notRead }: Omit<Answer, "answer">): string => {
  if (notRead !== undefined) {
    const shown = closest.length === 0 ? "" : chinese ? "最接近的段落：" : " Closest passages:"
    return `${chinese ? "模型的回答无法读取。" : "The model's answer could not be read. "}${notRead.message} ${notRead.advice}${shown}`
  }
  if (closest.length > 0)
    return chinese ? "没有确定的答案。最接近的段落：" : "No sure answer. Closest passages:"
  return chinese ? "在这些文档中没有找到这个问题的答案。" : "The documents do not answer this question."
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

const isChinese = (text: string): boolean => /\p{Script=Han}/u.test(text)
