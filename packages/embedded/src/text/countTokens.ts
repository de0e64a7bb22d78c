/** The size of a text, for models that have no vocabulary of their own. */
import { termsOf } from "./termsOf.ts"
import { forgetIfFull } from "./Term.ts"

/** Words and CJK characters of a text: what the embedded models count as tokens. */
export const countTokens = (text: string): number => {
  forgetIfFull()
  return termsOf(text).reduce((count, { kind }) => count + (kind === "pair" ? 0 : 1), 0)
}
