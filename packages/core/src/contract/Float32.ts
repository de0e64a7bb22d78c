/** Vectors on the wire: little-endian float32 numbers in base64. */

/** Whether this machine stores numbers the other way round. */
const SWAP = new Uint8Array(new Uint16Array([1]).buffer)[0] === 0

/** The base64 text of a vector, as `encoding_format: "base64"` wants it. `[0.5, -1, 2]` is `AAAAPwAAgL8AAABA`. */
export const toBase64 = (vector: Float32Array): string => {
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
export const fromBase64 = (text: string): Float32Array | undefined => base64Reader(numbersIn(text) ?? 0)(text)

/** Whether no number of a vector is NaN or infinite. A loop by index: `for … of` takes eight times as long. */
export const isFiniteVector = (vector: Float32Array): boolean => {
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i] as number
    if (value - value !== 0) return false
  }
  return true
}
