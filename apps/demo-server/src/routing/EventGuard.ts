/** Checks an upstream's server-sent events as they pass: complete lines pass at once. */
import { parseJson } from "@sluice/core/client"

/** Quotes inside strings are escaped: this is a key. */
const ERROR = '"error"'
const [NEWLINE = 0, RETURN = 0] = Buffer.from("\n\r")

/** Bytes of an unfinished line that are held back at most. A longer line passes as it comes. */
const LONGEST = 64 * 1024

const DONE = /[\r\n]data: ?\[DONE\]/
const DATA = /^data:/
/** A comment, or nothing. */
const COMPLETE = /^(?::|$)/
const NO_BYTES = Buffer.alloc(0)
/** Ends the event with any kind of line end, even if it was ended already. */
const END_OF_EVENT = Buffer.from("\n\n")

export interface EventGuard {
  /** The lines to pass on, without our credential in errors; none after `[DONE]`. */
  readonly push: (bytes: Uint8Array) => Uint8Array
  /** The last line, if only its line end is missing. Half an event is left out. */
  readonly end: () => Uint8Array
  /** Whether the stream ends within a line, and so is incomplete. */
  readonly isCut: () => boolean
  /** Whether `[DONE]` came. What comes after it is ignored. */
  readonly isDone: () => boolean
}

const isWhole = (line: string): boolean => parseJson(line.replace(DATA, "")) !== undefined

/** Makes a guard for one stream. `conceal` removes our credential from a text. */
export const makeEventGuard = (conceal: (text: string) => string): EventGuard => {
  let waiting: Buffer = NO_BYTES
  /** Whether part of a long line has passed, and whether that line is an error. */
  let isOpen = false
  let fails = false
  let done = false

  /** The credential is ASCII, so latin1 keeps all other bytes, even of cut characters. */
  const concealIn = (bytes: Buffer) => Buffer.from(conceal(bytes.toString("latin1")), "latin1")

  /** The bytes up to the end of `[DONE]`'s event; undefined without it. */
  const toDone = (bytes: Buffer): Buffer | undefined => {
    if (!bytes.includes("DONE]")) return undefined
    // A line starts after a line end.
    const before = isOpen ? "" : "\n"
    const found = DONE.exec(before + bytes.toString("latin1"))
    if (found === null) return undefined
    const end = found.index + found[0].length - before.length
    return Buffer.concat([bytes.subarray(0, end), END_OF_EVENT])
  }

  return {
    push: (chunk) => {
      if (done) return NO_BYTES
      const came = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
      const all = waiting.length === 0 ? came : Buffer.concat([waiting, came])
      const ended = toDone(all)
      done = ended !== undefined
      const bytes = ended ?? all
      const end = Math.max(bytes.lastIndexOf(NEWLINE), bytes.lastIndexOf(RETURN)) + 1
      const isLong = bytes.length - end > LONGEST || (isOpen && end === 0)
      const passed = isLong ? bytes : bytes.subarray(0, end)
      waiting = isLong ? NO_BYTES : bytes.subarray(end)
      const isError = (isOpen && fails) || passed.includes(ERROR)
      isOpen = isLong
      fails = isLong && isError
      return isError ? concealIn(passed) : passed
    },
    end: () => (isWhole(waiting.toString()) ? concealIn(Buffer.concat([waiting, END_OF_EVENT])) : NO_BYTES),
    isCut: () => isOpen || !COMPLETE.test(waiting.toString("latin1")),
    isDone: () => done
  }
}
