/** What is looked at of an upstream's server-sent events on their way, without holding back what is nobody's secret. */

/** In a text the quotes would be escaped: this is a key. */
const ERROR = '"error"'
const [NEWLINE, RETURN] = Buffer.from("\n\r")

/** Bytes of an error that is not whole yet which are waited for at most. */
const LONGEST = 64 * 1024

/** Of a line that is not whole yet, as many bytes as tell what it is. */
const BEGINNING = 64

/** What ends a stream, which some upstreams send without a line's end; a comment; nothing. */
const COMPLETE = /^(?:data: ?\[DONE\]|:.*|)$/s
const ENDING = /^data: ?\[/
const DONE = /(?:^|[\r\n])data: ?\[DONE\]/
const NO_BYTES = Buffer.alloc(0)
/** The end of the event, whichever lines' end the upstream has, and whether it came already. */
const END_OF_EVENT = Buffer.from("\n\n")

export interface EventGuard {
  /** The bytes to be passed on: those that came, less our credential where an error repeats it; none after `[DONE]`. */
  readonly push: (bytes: Uint8Array) => Uint8Array
  /** What was waited for. */
  readonly end: () => Uint8Array
  /** The bytes so far end within an event: whoever sees no more of them takes it for the whole answer. */
  readonly isCut: () => boolean
  /** `[DONE]` came: what comes or fails after it is nobody's matter. */
  readonly isDone: () => boolean
}

/** One for each stream; `conceal` takes our credential out of a text. */
export const makeEventGuard = (conceal: (text: string) => string): EventGuard => {
  let waiting = NO_BYTES
  let begun = ""
  let done = false

  /** A credential is ASCII; the parts of other characters, which may be cut, stay as they are. */
  const concealIn = (bytes: Buffer) => Buffer.from(conceal(bytes.toString("latin1")), "latin1")

  /** The bytes to the end of `[DONE]`, and the end of its event; undefined where it is not among them. */
  const toDone = (bytes: Buffer): Buffer | undefined => {
    if (!bytes.includes("DONE]") && !ENDING.test(begun)) return undefined
    const found = DONE.exec(begun + bytes.toString("latin1"))
    if (found === null) return undefined
    const end = found.index + found[0].length - begun.length
    return Buffer.concat([bytes.subarray(0, end), END_OF_EVENT])
  }

  /** What is known of the line that is not whole yet; and whether the one that was there before is an error. */
  const follow = (bytes: Buffer) => {
    const before = begun
    const last = Math.max(bytes.lastIndexOf(NEWLINE ?? 0), bytes.lastIndexOf(RETURN ?? 0))
    const line = last < 0 ? before : ""
    begun = line + bytes.toString("latin1", last + 1, last + 1 + BEGINNING - line.length)
    return { last, fails: before !== "" && (before + bytes.toString("latin1", 0, BEGINNING)).includes(ERROR) }
  }

  return {
    push: (chunk) => {
      if (done) return NO_BYTES
      const came = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
      const whole = toDone(came)
      done = whole !== undefined
      const bytes = whole ?? came
      const { fails, last } = follow(bytes)
      if (waiting.length === 0 && !fails && !bytes.includes(ERROR)) return whole ?? chunk
      const all = Buffer.concat([waiting, bytes])
      const ended = last < 0 ? 0 : waiting.length + last + 1
      const rest = all.subarray(ended)
      const waits = rest.length <= LONGEST && (begun.includes(ERROR) || rest.includes(ERROR))
      waiting = waits ? rest : NO_BYTES
      return concealIn(waits ? all.subarray(0, ended) : all)
    },
    end: () => concealIn(waiting),
    isCut: () => !COMPLETE.test(begun),
    isDone: () => done
  }
}
