/** Splits mailboxes into their messages. */

const FROM_LINE = "From "

/** The messages of a file: those of an mbox, or the file itself. Lines `>From` of an mbox are unescaped by nobody. */
export const splitMailbox = (bytes: Uint8Array): ReadonlyArray<Uint8Array> => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!buffer.subarray(0, FROM_LINE.length).equals(Buffer.from(FROM_LINE))) return [bytes]
  const messages: Array<Uint8Array> = []
  for (let at = 0; at !== -1 && at < buffer.length;) {
    const first = buffer.indexOf("\n", at) + 1
    if (first === 0) break
    const after = ["\n\nFrom ", "\n\r\nFrom "]
      .map((mark) => ({ mark, at: buffer.indexOf(mark, first - 1) }))
      .filter((found) => found.at !== -1)
      .toSorted((a, b) => a.at - b.at)[0]
    messages.push(buffer.subarray(first, after?.at))
    at = after === undefined ? -1 : after.at + after.mark.length - FROM_LINE.length
  }
  return messages
}
