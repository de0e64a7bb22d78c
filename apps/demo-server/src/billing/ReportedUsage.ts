/** What an answer says that it used: believed within reason, else the server's own count. */
import { countTokens } from "@sluice/embedded"
import { HttpServerResponse } from "effect/http"
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

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null

/** A field of an answer as it came, or as it was decoded, with what the contract does not name in `extra`. */
export const fieldOf = (answer: unknown, name: string): unknown => {
  if (!isFields(answer)) return undefined
  const { [name]: value, extra } = answer
  return value === undefined && isFields(extra) ? extra[name] : value
}

/**
 * An answer as a value: as it is, or read from the bytes that pass through; undefined where it comes in pieces. Of a
 * large one, such as many vectors, `part` is enough where that is all that is wanted.
 */
export const valueOf = (answer: unknown, part: "usage" | "all" = "usage"): unknown => {
  if (!HttpServerResponse.isHttpServerResponse(answer)) return answer
  if (answer.body._tag !== "Uint8Array") return undefined
  const { buffer, byteLength, byteOffset } = answer.body.body
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  const tail = part === "usage" && bytes.length > LARGE ? usageAtEnd(bytes) : undefined
  if (tail !== undefined) return { usage: tail }
  try {
    return JSON.parse(bytes.toString()) as unknown
  } catch {
    return undefined
  }
}

const LARGE = 64 * 1024

/** In a text the quotes would be escaped: this is a key. */
const KEY = '"usage"'

/** The object after the last key of that name, where it has no objects within. */
const usageAtEnd = (bytes: Buffer): unknown => {
  const at = bytes.lastIndexOf(KEY)
  if (at < 0) return undefined
  const text = bytes.subarray(at + KEY.length, at + KEY.length + 2000).toString()
  const [, object] = /^\s*:\s*(\{[^{}]*\})/.exec(text) ?? []
  try {
    return object === undefined ? undefined : JSON.parse(object)
  } catch {
    return undefined
  }
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

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

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

/** Where an image is. */
const IMAGE = ["url", "b64_json", "base64_json"]

const isImage = (image: unknown): boolean => IMAGE.some((name) => isText(fieldOf(image, name)))

/** In a form of the gateway's own, which has none of those places: any text. */
const isOther = (image: unknown): boolean =>
  isText(image) ||
  (isFields(image) && !IMAGE.some((name) => name in image) && Object.values(image).some(isText))

/** How many images came with an answer, not the places for them; undefined where it has no list of them. */
export const imagesIn = (answer: unknown): number | undefined => {
  const data = fieldOf(answer, "data")
  return Array.isArray(data) ? data.filter((image) => isImage(image) || isOther(image)).length : undefined
}

/** Whether an answer has images already: one without them, and with an id, begins a task. */
export const hasImages = (answer: unknown): boolean => listOf(fieldOf(answer, "data")).some(isImage)

/** Whether a task has made something, as its answer's `status` says; undefined while it may. */
export const hasMade = (answer: unknown): boolean | undefined => {
  const status = fieldOf(valueOf(answer, "all"), "status")
  return status === "completed" ? true : status === "failed" ? false : undefined
}

/** The seconds of a video that the answer tells, within reason. */
export const secondsOf = (answer: unknown, asked: number): number => {
  const told = Number(fieldOf(answer, "seconds"))
  return told > 0 && told <= asked * BELIEVED ? told : asked
}
