/** Errors for requests that the embedded models reject: too long, or with a forbidden word. */
import { GatewayError, InvalidRequest } from "@sluice/core"
import { Effect } from "effect"

/** Makes the error of a rejected call. */
export const rejectedBy =
  (operation: string, model: string) =>
  (reason: InvalidRequest): GatewayError =>
    new GatewayError({ operation, model, reason })

const tooLong = (message: string, param: string) =>
  new InvalidRequest({ message, param, code: "context_length_exceeded" })

type Check = Effect.Effect<void, InvalidRequest>

/** Characters of all texts of one request at most: 2,048 texts of 2,000. */
const MAX_CHARACTERS = 4_096_000

export const checkTexts = (texts: ReadonlyArray<string>, param: string): Check => {
  const characters = texts.reduce((sum, { length }) => sum + length, 0)
  const message = `The texts have ${characters} characters. The maximum per request is ${MAX_CHARACTERS}`
  return characters > MAX_CHARACTERS ? tooLong(message, param) : Effect.void
}

/** Characters of a query or question at most, as of a question about documents. */
const MAX_QUESTION = 10_240

export const checkQuestion = ({ length }: string, param: string): Check => {
  const message = `The question has ${length} characters. The maximum is ${MAX_QUESTION}`
  return length > MAX_QUESTION ? tooLong(message, param) : Effect.void
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

/** Fails for a prompt that is too long, or has a word above the tolerated severity. */
export const checkPrompt = (prompt: string, tolerance: number): Check => {
  if (prompt.length > MAX_PROMPT)
    return tooLong(`The prompt has ${prompt.length} characters. The maximum is ${MAX_PROMPT}`, "prompt")
  const severity = FORBIDDEN.find(([severity, words]) => severity > tolerance && words.test(prompt))?.[0]
  if (severity === undefined) return Effect.void
  const message = `The prompt has a forbidden word (severity ${severity}, tolerated ${tolerance}). Rephrase it`
  return new InvalidRequest({ message, param: "prompt", code: "content_policy_violation" })
}
