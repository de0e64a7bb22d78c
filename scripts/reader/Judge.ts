/** Whether sentences and passages have the answer of an example. */
import type { CitedSentence } from "@sluice/core/models"
import { escape } from "effect/RegExp"
import { closestTexts, orderByLetters } from "../../packages/rag/src/answering/ClosestPassages.ts"
import type { Example, RetrievedPassage } from "./Example.ts"

const normalize = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[‐-―−]/g, "-")
    .replace(/[*_`]|\]\([^)\s]*\)|\[/g, "")
    .replace(/\s+/g, " ")

/** A number is not contained in a longer number. */
export const containsText = (text: string, expected: string): boolean =>
  new RegExp(`(?<![a-z\\d]|\\d[.,])${escape(normalize(expected).trim())}(?![a-z\\d]|[.,]\\d)`, "u").test(
    normalize(text)
  )

export const hasAnswer = (example: Example): boolean => example.gold.texts.length > 0

/** Whether the text of a passage from `from` to `to` has the answer. */
export const isGold = (
  { gold }: Example,
  { path, start, text }: RetrievedPassage,
  from = 0,
  to = text.length
): boolean =>
  path === gold.path &&
  (gold.starts.length > 0
    ? gold.starts.some((at) => at >= start + from && at < start + to)
    : gold.texts.some((expected) => containsText(text.slice(from, to), expected)))

/** The passages that are shown instead of an answer. */
const closestOf = ({ further = [], question }: Example): ReadonlyArray<RetrievedPassage> => {
  const texts = further.map(({ text }) => text)
  return closestTexts(question, texts, orderByLetters(question, texts)).map(({ at }) => further[at]!)
}

/** Where a passage has the words of an answer that is meant elsewhere. */
export const hasWords = ({ gold }: Example, text: string): boolean =>
  gold.texts.some((expected) => expected.length > 1 && containsText(text, expected))

export interface Score {
  readonly questions: number
  /** Of all questions: shown answers that do not answer. */
  readonly wrong: number
  readonly shown: number
  readonly answerable: number
  readonly right: number
  /** Answered rightly, or the passage is among those shown. */
  readonly rightOrPassage: number
  readonly none: number
  readonly refused: number
}

export const judge = (
  examples: ReadonlyArray<Example>,
  read: (example: Example) => ReadonlyArray<CitedSentence>
): Score & { readonly failures: ReadonlyArray<string> } => {
  const failures: Array<string> = []
  let [wrong, shown, right, rightOrPassage, refused] = [0, 0, 0, 0, 0]
  for (const example of examples) {
    const answer = read(example)
    const said = answer.map(({ text }) => text).join(" ")
    const isRight =
      answer.length > 0 &&
      hasAnswer(example) &&
      example.gold.texts.some((expected) => containsText(said, expected))
    const passage = closestOf(example).some((one) => isGold(example, one))
    if (answer.length > 0) shown++
    if (answer.length > 0 && !isRight) wrong++
    if (isRight) right++
    if (hasAnswer(example) && (isRight || (answer.length === 0 && passage))) rightOrPassage++
    if (!hasAnswer(example) && answer.length === 0) refused++
    if (answer.length > 0 && !isRight)
      failures.push(`${example.id} ${example.question} → ${said.slice(0, 160)}`)
  }
  const answerable = examples.filter(hasAnswer).length
  return {
    questions: examples.length,
    wrong,
    shown,
    answerable,
    right,
    rightOrPassage,
    none: examples.length - answerable,
    refused,
    failures
  }
}

const share = (part: number, of: number): string => (of === 0 ? "–" : (part / of).toFixed(3))

export const row = (name: string, score: Score): string =>
  `${name.padEnd(24)} ${String(score.questions).padStart(5)}  wrong ${share(score.wrong, score.shown)} of ${score.shown}  right ${share(score.right, score.answerable)}  right or passage ${share(score.rightOrPassage, score.answerable)}  refused ${share(score.refused, score.none)} of ${score.none}`
