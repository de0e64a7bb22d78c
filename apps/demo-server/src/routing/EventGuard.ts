/** What is looked at of an upstream's server-sent events on their way: lines pass as soon as they are whole. */
import { jsonIn } from "@sluice/core/client"

/** In a text the quotes would be escaped: this is a key. */
const ERROR = '"error"'
const [NEWLINE = 0, RETURN = 0] = Buffer.from("\n\r")

/** Bytes of a line that is not whole yet which are waited for at most; a longer one passes as it comes. */
const LONGEST = 64 * 1024

const DONE = /[\r\n]data: ?\[DONE\]/
const DATA = /^data:/
/** A comment; nothing. */
const COMPLETE = /^(?::|$)/
const NO_BYTES = Buffer.alloc(0)
/** The end of the event, whichever lines' end the upstream has, and whether it came already. */
const END_OF_EVENT = Buffer.from("\n\n")

export interface EventGuard {
  /** The lines to be passed on: those that came, less our credential where an error repeats it; none after `[DONE]`. */
  readonly push: (bytes: Uint8Array) => Uint8Array
  /** A line that was waited for, where nothing but its end is missing: half an event is none. */
  readonly end: () => Uint8Array
  /** The bytes so far end within a line: whoever sees no more of them takes it for the whole answer. */
  readonly isCut: () => boolean
  /** `[DONE]` came: what comes or fails after it is nobody's matter. */
  readonly isDone: () => boolean
}

const isWhole = (line: string): boolean => jsonIn(line.replace(DATA, "")) !== undefined

/** One for each stream; `conceal` takes our credential out of a text. */
export const makeEventGuard = (conceal: (text: string) => string): EventGuard => {
  let waiting: Buffer = NO_BYTES
  /** Of a line that is longer than what is waited for, a part has passed; and whether it is an error. */
  let isOpen = false
  let fails = false
  let done = false

  /** A credential is ASCII; the parts of other characters, which may be cut, stay as they are. */
  const concealIn = (bytes: Buffer) => Buffer.from(conceal(bytes.toString("latin1")), "latin1")

  /** The bytes to the end of `[DONE]`, and the end of its event; undefined where it is not among them. */
  const toDone = (bytes: Buffer): Buffer | undefined => {
    if (!bytes.includes("DONE]")) return undefined
    // What begins a line has a line's end before it.
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
