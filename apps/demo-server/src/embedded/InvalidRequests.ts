/** Errors for requests that the embedded models reject: too long, or with a forbidden word. */
import { GatewayError, InvalidRequest } from "@sluice/core"

/** Makes the error of a rejected call. */
export const rejectedBy =
  (operation: string, model: string) =>
  (reason: InvalidRequest): GatewayError =>
    new GatewayError({ operation, model, reason })

/** Characters of all texts of one request at most: 2,048 texts of 2,000. */
const MAX_CHARACTERS = 4_096_000

/** The error for texts that are too long together. */
export const textsTooLong = (texts: ReadonlyArray<string>, param: string): InvalidRequest | undefined => {
  const characters = texts.reduce((sum, { length }) => sum + length, 0)
  if (characters <= MAX_CHARACTERS) return undefined
  const message = `The texts have ${characters} characters. The maximum per request is ${MAX_CHARACTERS}`
  return new InvalidRequest({ message, param, code: "context_length_exceeded" })
}

/** Characters of a query or question at most, as of a question about documents. */
const MAX_QUESTION = 10_240

/** The error for a query or question that is too long. */
export const questionTooLong = (question: string, param: string): InvalidRequest | undefined => {
  if (question.length <= MAX_QUESTION) return undefined
  const message = `The question has ${question.length} characters. The maximum is ${MAX_QUESTION}`
  return new InvalidRequest({ message, param, code: "context_length_exceeded" })
}

/** Forbidden words in English and Chinese, by severity: 1 is rejected only by the strictest setting, 5 almost always. */
const FORBIDDEN: ReadonlyArray<readonly [severity: number, words: RegExp]> = [
  [1, /\b(?:alcohol|cigarettes?|gambling)\b|香烟|赌博/i],
  [2, /\b(?:guns?|rifles?|weapons?)\b|手枪|武器/i],
  [3, /\b(?:blood|bloody|wounds?)\b|鲜血|流血/i],
  [4, /\b(?:corpses?|nude|naked)\b|尸体|裸体/i],
  [5, /\b(?:gore|torture|beheading)\b|酷刑|斩首/i]
]

/** The tolerance of models without such a parameter: only severity 5 is rejected. */
export const DEFAULT_TOLERANCE = 4

/** Characters of a prompt at most. The prompt is stored with a task. */
const MAX_PROMPT = 32_000

/** The error for a prompt that is too long, or has a word above the tolerated severity. */
export const promptRejected = (prompt: string, tolerance: number): InvalidRequest | undefined => {
  const reject = (message: string, code: string) => new InvalidRequest({ message, param: "prompt", code })
  if (prompt.length > MAX_PROMPT) {
    const message = `The prompt has ${prompt.length} characters. The maximum is ${MAX_PROMPT}`
    return reject(message, "context_length_exceeded")
  }
  const severity = FORBIDDEN.find(([severity, words]) => severity > tolerance && words.test(prompt))?.[0]
  if (severity === undefined) return undefined
  const message = `The prompt has a forbidden word (severity ${severity}, tolerated ${tolerance}). Rephrase it`
  return reject(message, "content_policy_violation")
}
