/** Base64 as RFC 4648 has it in section 4: one text for each sequence of bytes, and no other is read. */

/** Bytes as Base64, padded, on one line. */
export const encodeBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")

/**
 * The bytes of a Base64 text, or `undefined` when it is none.
 *
 * **Details.** Strict: the standard alphabet, padded, without line breaks, and with no bits left over. What is read is
 * what would be written.
 */
export const decodeBase64 = (text: string): Uint8Array | undefined => {
  if (text.length % 4 !== 0) return undefined
  const bytes = Buffer.from(text, "base64")
  // Node leaves out what it does not know: only a text that comes back whole had nothing of the kind.
  return bytes.toString("base64") === text
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    : undefined
}

/** How many bytes a Base64 text stands for, without decoding it. */
export const base64Bytes = (text: string): number =>
  Math.floor((text.length * 3) / 4) - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0)
