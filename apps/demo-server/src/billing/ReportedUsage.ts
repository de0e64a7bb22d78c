/** The usage to bill: as the response reports it if that is plausible, else by the server's own count. */
import { NO_USAGE, type Usage } from "@sluice/core/prices"
import { countTokens } from "@sluice/embedded"
import { fieldOf, isText, listOf } from "../routing/ResponseBody.ts"

/** A reported number may be this many times the estimate, because tokenizers differ. */
const MAX_RATIO = 10

/** Reported output tokens that are always accepted: reasoning models generate more than they return. */
const ALWAYS_ACCEPTED_OUTPUT = 200_000

/** Added to bounds, so that a small limit does not end a stream of a few pieces. */
const EXTRA_TOKENS = 1000

/** Tokens, by the server's own count, beyond which a stream is ended. */
export interface Bounds {
  /** Tokens of text without reasoning. */
  readonly textTokens: number
  readonly totalTokens: number
}

const maxOutput = ({ outputTokens }: Usage): number =>
  Math.max(outputTokens * MAX_RATIO, ALWAYS_ACCEPTED_OUTPUT)

/** `isLimited`: the request limits its output. */
export const streamBounds = (most: Usage, isLimited: boolean): Bounds => {
  const totalTokens = maxOutput(most)
  return { totalTokens, textTokens: isLimited ? most.outputTokens * MAX_RATIO + EXTRA_TOKENS : totalTokens }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** The token counts in a `usage`. */
const tokensOf = (usage: unknown): { readonly input: unknown; readonly output: unknown } => {
  const output = fieldOf(usage, "completion_tokens") ?? fieldOf(usage, "output_tokens")
  const total = fieldOf(usage, "total_tokens")
  const input = fieldOf(usage, "prompt_tokens") ?? fieldOf(usage, "input_tokens")
  if (input !== undefined) return { input, output }
  return { input: isCount(total) ? total - (isCount(output) ? output : 0) : undefined, output }
}

/** The tokens that the vendor has read from its cache, in the forms of chat and of images. */
const cachedIn = (usage: unknown): unknown =>
  fieldOf(fieldOf(usage, "prompt_tokens_details") ?? fieldOf(usage, "input_tokens_details"), "cached_tokens")

/**
 * The tokens to bill: the reported ones if they are plausible whole numbers, else the server's own count.
 *
 * **Details.** 0 tokens for a text are not accepted. `countUsage` and `written` are computed only if they are needed.
 */
export const billedUsage = (
  usage: unknown,
  most: Usage,
  countUsage: () => Usage,
  written: () => number
): Usage => {
  const { input, output } = tokensOf(usage)
  const cached = cachedIn(usage)
  const { searches } = most
  const acceptsInput =
    isCount(input) && input <= most.inputTokens * MAX_RATIO && (input > 0 || most.inputTokens === 0)
  const acceptsOutput = isCount(output) && output <= maxOutput(most) && (output > 0 || written() === 0)
  return {
    ...NO_USAGE,
    inputTokens: acceptsInput ? input : countUsage().inputTokens,
    ...(acceptsInput && isCount(cached) && cached <= input && { cachedTokens: cached }),
    ...(searches !== undefined && { searches }),
    outputTokens: most.outputTokens === 0 ? 0 : acceptsOutput ? output : written()
  }
}

/** The fields of messages that have text. */
const TEXT_FIELDS = ["content", "refusal"]
const REASONING_FIELDS = ["reasoning_content", "reasoning"]

const textsOf = (message: unknown, names: ReadonlyArray<string>): ReadonlyArray<unknown> =>
  names.flatMap((name) => {
    const value = fieldOf(message, name)
    return Array.isArray(value) ? value.map((part) => fieldOf(part, "text")) : [value]
  })

/** The reasoning in a message or a delta. */
export const reasoningIn = (message: unknown): ReadonlyArray<string> =>
  textsOf(message, REASONING_FIELDS).filter(isText)

/** The text, refusal and tool calls in a message or a delta. */
export const textIn = (message: unknown): ReadonlyArray<string> => {
  const calls = listOf(fieldOf(message, "tool_calls")).map((call) => fieldOf(call, "function"))
  const callTexts = [...calls, fieldOf(message, "function_call")].flatMap((call) => [
    fieldOf(call, "name"),
    fieldOf(call, "arguments")
  ])
  return [...textsOf(message, TEXT_FIELDS), ...callTexts].filter(isText)
}

const textsIn = (message: unknown): ReadonlyArray<string> => [...textIn(message), ...reasoningIn(message)]

/** The output tokens of a chat response, by the server's own count. */
export const outputTokensOf = (answer: unknown): number =>
  listOf(fieldOf(answer, "choices"))
    .flatMap((choice) => textsIn(fieldOf(choice, "message")))
    .reduce((sum, text) => sum + countTokens(text), 0)

/** The seconds of a video to bill: the reported ones if they are plausible, else the requested ones. */
export const billedSeconds = (answer: unknown, requested: number): number => {
  const reported = Number(fieldOf(answer, "seconds"))
  return reported > 0 && reported <= requested * MAX_RATIO ? reported : requested
}
