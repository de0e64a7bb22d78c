/** The rules on text that readers and rag share: sentences, finding a quote, proving a sentence by it, completing a question. */
export { carrySubject } from "./conversation/CarrySubject.ts"
export { dependsOnHistory, isChinese } from "./conversation/FollowUp.ts"
export { dependenceOf, isFollowUp } from "./conversation/FollowUpScore.ts"
export { contentWords, isSameWord, sharedWords, UNSPACED, WORD } from "./readers/ContentWords.ts"
export {
  type QuestionLanguage,
  questionLanguage,
  searchedWords,
  withoutFunctionWords
} from "./readers/FunctionWords.ts"
export { LIST_SIGN } from "./readers/ProseSentences.ts"
export { findQuote, isProof } from "./readers/Quote.ts"
export { unsupportedReason } from "./readers/Support.ts"
export { followsQuotes } from "./readers/WordOrder.ts"
export type { PassageBlock, Sentence } from "./sentences/Sentence.ts"
export { splitSentences } from "./sentences/SplitSentences.ts"
