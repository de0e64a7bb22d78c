/** The usage that responses report: accepted within reason, else the server's own count. */
import { countTokens } from "@sluice/embedded"
import { fieldOf, isText, listOf } from "../routing/ResponseBody.ts"
import { NOTHING, type Usage } from "./Prices.ts"

/** How far a report may exceed the estimate: tokenizers differ. */
const BELIEVED = 10

/** Output tokens that are always accepted: reasoning models write more than they show. */
const BELIEVED_OUTPUT = 200_000

/** Added, so that a limit of a few tokens does not end a stream of a few pieces. */
const FEW = 1000

/** Tokens, by the server's own count, that a stream within its limit never reaches. */
export interface Bounds {
  /** Tokens of text. Reasoning may exceed the limit. */
  readonly said: number
  readonly written: number
}

const believedOutput = ({ outputTokens }: Usage): number => Math.max(outputTokens * BELIEVED, BELIEVED_OUTPUT)

/** `isLimited`: the request limits its output. */
export const boundsOf = (most: Usage, isLimited: boolean): Bounds => {
  const written = believedOutput(most)
  return { written, said: isLimited ? most.outputTokens * BELIEVED + FEW : written }
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** The tokens of a `usage`. */
const tokensOf = (usage: unknown): { readonly input: unknown; readonly output: unknown } => {
  const output = fieldOf(usage, "completion_tokens") ?? fieldOf(usage, "output_tokens")
  const total = fieldOf(usage, "total_tokens")
  const input = fieldOf(usage, "prompt_tokens") ?? fieldOf(usage, "input_tokens")
  if (input !== undefined) return { input, output }
  return { input: isWhole(total) ? total - (isWhole(output) ? output : 0) : undefined, output }
}

/**
 * The tokens to pay for: the reported ones if they are whole numbers within reason, else the server's own count.
 *
 * **Details.** 0 input tokens for a text are not accepted. `counted` and `written` are computed only if they are
 * needed.
 */
export const settledUsage = (
  usage: unknown,
  most: Usage,
  counted: () => Usage,
  written: () => number
): Usage => {
  const { input, output } = tokensOf(usage)
  const believesInput =
    isWhole(input) && input <= most.inputTokens * BELIEVED && (input > 0 || most.inputTokens === 0)
  const believesOutput = isWhole(output) && output <= believedOutput(most) && (output > 0 || written() === 0)
  return {
    ...NOTHING,
    inputTokens: believesInput ? input : counted().inputTokens,
    outputTokens: most.outputTokens === 0 ? 0 : believesOutput ? output : written()
  }
}

/** The fields of text, refusals and reasoning. */
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
  const asked = [...calls, fieldOf(message, "function_call")].flatMap((call) => [
    fieldOf(call, "name"),
    fieldOf(call, "arguments")
  ])
  return [...textsOf(message, TEXT_FIELDS), ...asked].filter(isText)
}

const textsIn = (message: unknown): ReadonlyArray<string> => [...textIn(message), ...reasoningIn(message)]

/** The tokens of a chat response, by the server's own count. */
export const outputTokensOf = (answer: unknown): number =>
  listOf(fieldOf(answer, "choices"))
    .flatMap((choice) => textsIn(fieldOf(choice, "message")))
    .reduce((sum, text) => sum + countTokens(text), 0)

/** The seconds of a video that a response reports, within reason. */
export const secondsOf = (answer: unknown, asked: number): number => {
  const told = Number(fieldOf(answer, "seconds"))
  return told > 0 && told <= asked * BELIEVED ? told : asked
}
