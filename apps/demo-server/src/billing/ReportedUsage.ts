/** What an answer says that it used: believed within reason, else the server's own count. */
import { countTokens } from "@sluice/embedded"
import { fieldOf, isText, listOf } from "../routing/ResponseBody.ts"
import { NOTHING, type Usage } from "./Prices.ts"

/** How far above what a call may use at most a report is believed: other tokenizers count otherwise. */
const BELIEVED = 10

/** Tokens of an answer that are believed whatever was asked for: models that think write more than they say. */
const BELIEVED_OUTPUT = 200_000

/** Beside that, so that a limit of some tokens is none of some pieces. */
const FEW = 1000

/** Tokens, by the server's own count, which a stream that keeps to what was asked for never comes to. */
export interface Bounds {
  /** Of what is said; thoughts are within no limit that everybody keeps. */
  readonly said: number
  readonly written: number
}

const believedOutput = ({ outputTokens }: Usage): number => Math.max(outputTokens * BELIEVED, BELIEVED_OUTPUT)

/** `isLimited`: the request says itself how many tokens are asked for at most. */
export const boundsOf = (most: Usage, isLimited: boolean): Bounds => {
  const written = believedOutput(most)
  return { written, said: isLimited ? most.outputTokens * BELIEVED + FEW : written }
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** The tokens that a `usage` names. */
const tokensOf = (usage: unknown): { readonly input: unknown; readonly output: unknown } => {
  const output = fieldOf(usage, "completion_tokens") ?? fieldOf(usage, "output_tokens")
  const total = fieldOf(usage, "total_tokens")
  const input = fieldOf(usage, "prompt_tokens") ?? fieldOf(usage, "input_tokens")
  if (input !== undefined) return { input, output }
  return { input: isWhole(total) ? total - (isWhole(output) ? output : 0) : undefined, output }
}

/**
 * What is paid for: the reported tokens where they are whole numbers within reason, else the server's own.
 *
 * **Details.** A text of which no token is said to have been read was read all the same. `counted` and `written` are the
 * server's own counts of the question's and the answer's tokens, which are made where they are needed.
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

/** Where models write what they say, why they refuse, and what they think. */
const SAID = ["content", "refusal"]
const THOUGHT = ["reasoning_content", "reasoning"]

const textsOf = (message: unknown, names: ReadonlyArray<string>): ReadonlyArray<unknown> =>
  names.flatMap((name) => {
    const value = fieldOf(message, name)
    return Array.isArray(value) ? value.map((part) => fieldOf(part, "text")) : [value]
  })

/** What a message, or a piece of one, thinks. */
export const thoughtsIn = (message: unknown): ReadonlyArray<string> =>
  textsOf(message, THOUGHT).filter(isText)

/** What it says and refuses, and what tools are asked. */
export const saidIn = (message: unknown): ReadonlyArray<string> => {
  const calls = listOf(fieldOf(message, "tool_calls")).map((call) => fieldOf(call, "function"))
  const asked = [...calls, fieldOf(message, "function_call")].flatMap((call) => [
    fieldOf(call, "name"),
    fieldOf(call, "arguments")
  ])
  return [...textsOf(message, SAID), ...asked].filter(isText)
}

const textsIn = (message: unknown): ReadonlyArray<string> => [...saidIn(message), ...thoughtsIn(message)]

/** The tokens of a chat's whole answer, by the server's own count. */
export const writtenBy = (answer: unknown): number =>
  listOf(fieldOf(answer, "choices"))
    .flatMap((choice) => textsIn(fieldOf(choice, "message")))
    .reduce((sum, text) => sum + countTokens(text), 0)

/** The seconds of a video that the answer tells, within reason. */
export const secondsOf = (answer: unknown, asked: number): number => {
  const told = Number(fieldOf(answer, "seconds"))
  return told > 0 && told <= asked * BELIEVED ? told : asked
}
