/** Server-sent events as bytes: split into lines, mapped, and ended by an error. */

const [NEWLINE = 0, RETURN = 0] = Buffer.from("\n\r")
const LINE_END = /(\r\n|\n|\r)/
const FIELD = "data:"

/**
 * Splits a stream after complete lines. Of an unfinished line, at most `limit` bytes are held back.
 *
 * **Details.** The time grows with the bytes, however they are split: the buffer for them doubles.
 */
export const makeLineSplitter = (limit: number) => {
  let held = Buffer.alloc(0)
  let size = 0
  let isOpen = false
  const rest = () => held.subarray(0, size)
  const hold = (bytes: Uint8Array) => {
    if (size + bytes.length > held.length) {
      held = Buffer.concat([rest()], 2 * (size + bytes.length))
    }
    held.set(bytes, size)
    size += bytes.length
  }
  return {
    /** The bytes up to the last line end. The unfinished line is held back, unless it is too long. */
    push: (bytes: Uint8Array): Buffer => {
      const end = Math.max(bytes.lastIndexOf(NEWLINE), bytes.lastIndexOf(RETURN)) + 1
      const unfinished = bytes.length - end + (end === 0 ? size : 0)
      isOpen = unfinished > limit || (isOpen && end === 0)
      const cut = isOpen ? bytes.length : end
      const first = Buffer.from(bytes.buffer, bytes.byteOffset, cut)
      const complete = cut === 0 || size === 0 ? first : Buffer.concat([rest(), first])
      if (cut > 0) size = 0
      hold(bytes.subarray(cut))
      return complete
    },
    /** The bytes that are held back, until the next `push`. */
    rest,
    /** Whether the start of the unfinished line has passed because the line is too long. */
    isOpen: () => isOpen
  }
}

/** Bytes of an unfinished line that are held back while data is mapped. */
const MAX_LINE = 1024 * 1024

/**
 * Maps the data of each event; undefined removes the line. Other lines pass unchanged, and so do lines over 1 MiB.
 *
 * `mark`: text that the lines to map contain. Bytes without it pass without decoding.
 */
export const mapEventData = (change: (data: string) => string | undefined, mark = FIELD) => {
  const lines = makeLineSplitter(MAX_LINE)
  // Decodes a long line in parts, which may be cut within a character.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  const mapLine = (line: string): string => {
    if (!line.startsWith(FIELD)) return line
    const changed = change(line.slice(FIELD.length))
    return changed === undefined ? "" : FIELD + changed
  }
  return {
    push: (bytes: Uint8Array): Uint8Array => {
      const wasOpen = lines.isOpen()
      const complete = lines.push(bytes)
      const isOpen = lines.isOpen()
      if (!wasOpen && !isOpen && !complete.includes(mark)) return complete
      const parts = decoder.decode(complete, { stream: true }).split(LINE_END)
      const isLong = (at: number) => (wasOpen && at === 0) || (isOpen && at === parts.length - 1)
      return Buffer.from(parts.map((part, at) => (isLong(at) ? part : mapLine(part))).join(""))
    },
    end: (): Uint8Array => Buffer.from(mapLine(decoder.decode(lines.rest())))
  }
}

/** The event that ends a stream which fails. The blank line before it ends an unfinished event. */
export const finalEvent = (data: object): Uint8Array => Buffer.from(`\n\ndata: ${JSON.stringify(data)}\n\n`)
