/** What a chat that comes in pieces used: read on the way, without holding anything back. */
import { countTokens } from "@sluice/embedded"
import { fieldOf } from "../routing/ResponseBody.ts"
import { saidIn, thoughtsIn } from "./ReportedUsage.ts"

/** Characters of one event at most: of a longer one, such as an image is, nothing is read, and it counts as one piece. */
const LONGEST = 1024 * 1024

/** What was seen of a stream so far. */
export interface Tally {
  /** The data of an event, decoded. */
  readonly event: (data: unknown) => void
  /** Bytes of server-sent events, cut anywhere. */
  readonly bytes: (chunk: Uint8Array) => void
  /** The last `usage` that came. */
  readonly usage: () => unknown
  /** Tokens of the text that came, by the server's own count. */
  readonly written: () => number
  /** Of them, those that are no thoughts. */
  readonly said: () => number
  /** An error was among it. */
  readonly broke: () => boolean
  /** Nothing came, or nothing but an error. */
  readonly failed: () => boolean
}

/** A piece is a token at least: a word that comes in three was three. */
const tokensOf = (texts: ReadonlyArray<string>): number =>
  texts.reduce((sum, text) => sum + Math.max(1, countTokens(text)), 0)

export const makeTally = (): Tally => {
  const decoder = new TextDecoder()
  let usage: unknown
  let said = 0
  let thought = 0
  let wrong = false
  let came = false
  let rest = ""
  /** The data of an event so far, which may come in several lines. */
  let begun = ""

  const event = (data: unknown) => {
    const told = fieldOf(data, "usage")
    if (told !== undefined && told !== null) usage = told
    if (fieldOf(data, "error") !== undefined && fieldOf(data, "error") !== null) wrong = true
    const choices = fieldOf(data, "choices")
    if (!Array.isArray(choices)) return
    came ||= choices.length > 0
    for (const choice of choices) {
      const delta = fieldOf(choice, "delta")
      said += tokensOf(saidIn(delta))
      thought += tokensOf(thoughtsIn(delta))
    }
  }

  const line = (text: string) => {
    if (text === "") begun = ""
    if (!text.startsWith("data:")) return
    const data = begun + text.slice("data:".length)
    if (data.length > LONGEST) {
      begun = ""
      said += 1
      return
    }
    begun = `${data}\n`
    try {
      if (data.trimEnd().endsWith("}")) event(JSON.parse(data))
    } catch {
      // `[DONE]`, an event that goes on, or nothing that can be counted.
    }
  }

  return {
    event,
    bytes: (chunk) => {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r/)
      rest = lines.pop() ?? ""
      for (const text of lines) line(text)
      if (rest.length > LONGEST) {
        line(rest)
        rest = ""
      }
    },
    usage: () => usage,
    written: () => said + thought,
    said: () => said,
    broke: () => wrong,
    failed: () => said + thought === 0 && (wrong || !came)
  }
}
