/** Splits mailboxes into their messages. */

/**
 * A line that begins a message: the first, or after a blank line one with a weekday and a time, or before a header. Some
 * programs leave "From now on" in a text as it is.
 */
const FROM_LINE = /(?:^|\n\r?\n)From [^\n]*/g
const SEPARATOR = / (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? .{0,40}\d:\d\d/
const HEADER = /[A-Za-z][\w-]{0,76}:[ \t]/y

/** The messages of a file: those of an mbox, or the file itself. Lines `>From` of an mbox stay escaped. */
export const splitMailbox = (bytes: Uint8Array): ReadonlyArray<Uint8Array> => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")
  if (!text.startsWith("From ")) return [bytes]
  const messages: Array<Uint8Array> = []
  let start: number | undefined
  for (const { 0: line, index } of text.matchAll(FROM_LINE)) {
    HEADER.lastIndex = index + line.length + 1
    if (index > 0 && !SEPARATOR.test(line) && !HEADER.test(text)) continue
    if (start !== undefined) messages.push(bytes.subarray(start, Math.max(start, index)))
    start = index + line.length + 1
  }
  messages.push(bytes.subarray(start))
  return messages
}
