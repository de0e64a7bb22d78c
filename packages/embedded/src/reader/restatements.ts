/** Sentences that only say the question again. */
import type { Term } from "../text/Term.ts"
import { type Question, WHETHER, distinctWords } from "./question.ts"
import type { Sentence } from "./passages/Sentence.ts"

/** Small words that answer by themselves: “*anyone* may open it”, “Dogs | *no*”. */
const SMALL_ANSWERS = new Set(
  "yes no not none never always nobody nothing nowhere anyone anybody anytime anywhere everyone everybody everywhere all both one once".split(
    " "
  )
)

/** “The gate *is* open.” says all it has to; “Reset the pump.” leads to what stands below it. */
const HELPING =
  /\b(?:is|are|was|were|has|have|had|do|does|did|can|could|may|might|must|shall|should|will|would)\b/i

const STATED = /[.!。！]["'”’*_)\]）」』\s]*$/u

/** Whether a sentence has no word that the question does not have, and neither confirms nor denies what that asks. */
export const restatesQuestion = (
  question: Question,
  content: ReadonlySet<Term>,
  { kind, text }: Sentence
): boolean =>
  content.size > 0 &&
  [...content].every(
    (term) =>
      term.kind === "character" ||
      question.terms.includes(term) ||
      (term.kind === "pair" && question.text.includes(term.key))
  ) &&
  distinctWords(text).difference(question.words).isDisjointFrom(SMALL_ANSWERS) &&
  !(question.isYesNo && (kind === "paragraph" ? STATED.test(text) : !WHETHER.test(text)))

/** Whether what stands below one of these answers what it says. */
export const introducesAnswer = ({ asksHow }: Question, { text }: Sentence): boolean =>
  asksHow || !(STATED.test(text) && HELPING.test(text))
