/** Sentences that only repeat the question. */
import type { Term } from "../text/Term.ts"
import { type Question, WHETHER, distinctWords } from "./question.ts"
import type { Sentence } from "./passages/Sentence.ts"

/** Short words that are an answer: “*anyone* may open it”, “Dogs | *no*”. */
const SMALL_ANSWERS = new Set(
  "yes no not none never always nobody nothing nowhere anyone anybody anytime anywhere everyone everybody everywhere all both one once".split(
    " "
  )
)

/** With an auxiliary verb a sentence is a statement: “The gate *is* open.” “Reset the pump.” introduces what follows. */
const AUXILIARY =
  /\b(?:is|are|was|were|has|have|had|do|does|did|can|could|may|might|must|shall|should|will|would)\b/i

const IS_STATEMENT = /[.!。！]["'”’*_)\]）」』\s]*$/u

/** True if a sentence has only words of the question, and does not answer a yes-no question. */
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
  !(question.isYesNo && (kind === "paragraph" ? IS_STATEMENT.test(text) : !WHETHER.test(text)))

/** True if the text after such a sentence may answer it. */
export const introducesAnswer = ({ asksHow }: Question, { text }: Sentence): boolean =>
  asksHow || !(IS_STATEMENT.test(text) && AUXILIARY.test(text))
