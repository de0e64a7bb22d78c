/** Passes an upstream's server-sent events up to `[DONE]`, and redacts errors. */
import { parseJson } from "@sluice/core/client"
import { makeLineSplitter } from "../wire/ServerSentEvents.ts"

/** Quotes inside strings are escaped, so this is a key. */
const ERROR = '"error"'

/** Bytes of an unfinished line that are held back. */
const MAX_LINE = 64 * 1024

const DONE = /[\r\n]data: ?\[DONE\]/
const DONE_LENGTH = "data: [DONE]".length
const DATA = /^data:/
/** A comment, or an empty line. */
const NO_DATA = /^(?::|$)/
const NO_BYTES = Buffer.alloc(0)
/** Ends an event, whichever line end its last line has. */
const EVENT_END = Buffer.from("\n\n")

/** Makes a guard for one stream. `redact` removes the server's credential from a text. */
export const makeEventGuard = (redact: (text: string) => string) => {
  const lines = makeLineSplitter(MAX_LINE)
  /** Whether the unfinished line, part of which has passed, is an error. */
  let isOpenError = false
  let isDone = false

  /** The credential is ASCII, so latin1 keeps all other bytes, even of cut characters. */
  const redactBytes = (bytes: Buffer) => Buffer.from(redact(bytes.toString("latin1")), "latin1")

  /** The bytes up to and with the event `[DONE]`; undefined without it. `start`: whether they start a line. */
  const untilDone = (bytes: Buffer, start: boolean): Buffer | undefined => {
    if (!bytes.includes("DONE]")) return undefined
    const before = start ? "\n" : ""
    const found = DONE.exec(before + bytes.toString("latin1"))
    if (found === null) return undefined
    const end = found.index + found[0].length - before.length
    return Buffer.concat([bytes.subarray(0, end), EVENT_END])
  }

  return {
    /** The complete lines, with errors redacted. No bytes after `[DONE]`. */
    push: (chunk: Uint8Array): Uint8Array => {
      if (isDone) return NO_BYTES
      const wasOpen = lines.isOpen()
      const complete = lines.push(chunk)
      const start = lines.rest().subarray(0, DONE_LENGTH)
      const last = untilDone(start.length === 0 ? complete : Buffer.concat([complete, start]), !wasOpen)
      isDone = last !== undefined
      const passed = last ?? complete
      const isError = (wasOpen && isOpenError) || passed.includes(ERROR)
      isOpenError = lines.isOpen() && isError
      return isError ? redactBytes(passed) : passed
    },
    /** The last line if only its line end is missing. Half an event is dropped. */
    end: () => {
      const rest = lines.rest()
      const isWhole = !isDone && parseJson(rest.toString().replace(DATA, "")) !== undefined
      return isWhole ? redactBytes(Buffer.concat([rest, EVENT_END])) : NO_BYTES
    },
    /** Whether the stream ends within an event. */
    isCut: () => !isDone && (lines.isOpen() || !NO_DATA.test(lines.rest().toString("latin1"))),
    /** Whether `[DONE]` was received. Everything after it is dropped. */
    isDone: () => isDone
  }
}
