/** Which prompts are refused: what is too long, and a list of words, each with a degree, and no judgement. */
import { InvalidRequest } from "@sluice/core"

/** From 1, which only the strictest refuse, to 5, which only the most tolerant let pass. English and Chinese. */
const DEGREES: ReadonlyArray<readonly [degree: number, words: RegExp]> = [
  [1, /\b(?:alcohol|cigarettes?|gambling)\b|香烟|赌博/i],
  [2, /\b(?:guns?|rifles?|weapons?)\b|手枪|武器/i],
  [3, /\b(?:blood|bloody|wounds?)\b|鲜血|流血/i],
  [4, /\b(?:corpses?|nude|naked)\b|尸体|裸体/i],
  [5, /\b(?:gore|torture|beheading)\b|酷刑|斩首/i]
]

/** Of models that know no such parameter: 5 alone is refused. */
export const USUAL_TOLERANCE = 4

/** Characters of a prompt at most: it is kept with a task, and all of it decides what is drawn. */
const MAX_PROMPT = 32_000

/** Why a prompt is refused: it is too long, or has a word of a higher degree than is tolerated. */
export const refusedPrompt = (prompt: string, tolerance: number): InvalidRequest | undefined => {
  if (prompt.length > MAX_PROMPT) {
    return new InvalidRequest({
      message: `The prompt has ${prompt.length} characters, of ${MAX_PROMPT} at most: shorten it`,
      param: "prompt",
      code: "context_length_exceeded"
    })
  }
  const degree = DEGREES.find(([degree, words]) => degree > tolerance && words.test(prompt))?.[0]
  return degree === undefined
    ? undefined
    : new InvalidRequest({
        message: `The prompt has a word that is refused here (degree ${degree}, tolerated ${tolerance}): say it otherwise`,
        param: "prompt",
        code: "content_policy_violation"
      })
}
