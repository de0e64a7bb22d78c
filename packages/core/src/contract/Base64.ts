/** Base64 (RFC 4648, section 4): bytes, and vectors as little-endian float32 numbers. */

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
export const base64ByteLength = (text: string): number =>
  Math.floor((text.length * 3) / 4) - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0)

/** Whether this machine stores numbers the other way round. */
const SWAP = new Uint8Array(new Uint16Array([1]).buffer)[0] === 0

/** The base64 text of a vector, as `encoding_format: "base64"` wants it. `[0.5, -1, 2]` is `AAAAPwAAgL8AAABA`. */
export const encodeVector = (vector: Float32Array): string => {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)
  return (SWAP ? Buffer.from(bytes).swap32() : bytes).toString("base64")
}

/** Bytes that a base64 text carries, where those are numbers; undefined where it carries none. */
const numbersIn = (text: string): number | undefined => {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  const length = ((text.length * 3) >>> 2) - padding
  return length <= 0 || text.length % 4 !== 0 || length % 4 !== 0 ? undefined : length
}

/**
 * Reads the vectors of texts that carry so many bytes together at most. `undefined` where a text carries none.
 *
 * **Details.** Each is written straight into one memory, which they share: to make one for each costs more than to read
 * it. It has no share in Node's buffer pool, whose slices need not be aligned to four bytes.
 */
export const base64Reader = (bytes: number) => {
  const memory = new ArrayBuffer(bytes)
  const room = Buffer.from(memory)
  let at = 0
  return (text: string): Float32Array | undefined => {
    const length = numbersIn(text)
    if (length === undefined || room.write(text, at, "base64") !== length) return undefined
    if (SWAP) room.subarray(at, at + length).swap32()
    const vector = new Float32Array(memory, at, length / 4)
    at += length
    return vector
  }
}

/** The vector that a base64 text carries, in a memory of its own, or `undefined` when it carries none. */
export const decodeVector = (text: string): Float32Array | undefined =>
  base64Reader(numbersIn(text) ?? 0)(text)

/** Whether no number of a vector is NaN or infinite. A loop by index: `for … of` takes eight times as long. */
export const isFiniteVector = (vector: Float32Array): boolean => {
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i] as number
    if (value - value !== 0) return false
  }
  return true
}
