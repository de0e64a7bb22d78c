/** What stands above a sentence: a heading, or a question of the text. */
import { contentOf, hasNumbers, presence } from "./presence.ts"
import { isNumber, type Question } from "./question.ts"

const HEADING = 0.4
/** What stands under a question answers it without saying it again, and under a date, what was then. */
const UNDER_QUESTION = 0.8
const UNDER_NUMBERS = 0.8

export const ASKS = /[?？]["'”’*_)\]）」』\s]*$/u

/** Its words, what of the question it says, and what that counts. */
export interface Above {
  readonly text: string
  readonly said: ReadonlyArray<number>
  readonly counts: ReadonlyArray<number>
}

export const aboveOf = (question: Question, text: string): Above => {
  const said = presence(question, contentOf(text))
  const usual = ASKS.test(text) ? UNDER_QUESTION : HEADING
  const ofNumbers = hasNumbers(question, text) ? UNDER_NUMBERS : usual
  const counts = said.map((value, i) => value * (isNumber(question.terms[i]!) ? ofNumbers : usual))
  return { text, said, counts }
}
