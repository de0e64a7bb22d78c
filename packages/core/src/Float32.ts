/** Vectors on the wire: little-endian float32 numbers in base64. */

/** Whether this machine stores numbers the other way round. */
const SWAP = new Uint8Array(new Uint16Array([1]).buffer)[0] === 0

/** The base64 text of a vector, as `encoding_format: "base64"` wants it. `[0.5, -1, 2]` is `AAAAPwAAgL8AAABA`. */
export const toBase64 = (vector: Float32Array): string => {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)
  return (SWAP ? Buffer.from(bytes).swap32() : bytes).toString("base64")
}

/**
 * The vector that a base64 text carries, or `undefined` when it carries none.
 *
 * **Details.** Written straight into the vector's own memory: no copy, and no share in Node's buffer pool, whose
 * slices need not be aligned to four bytes.
 */
export const fromBase64 = (text: string): Float32Array | undefined => {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  const length = ((text.length * 3) >>> 2) - padding
  if (length <= 0 || text.length % 4 !== 0 || length % 4 !== 0) return undefined
  const vector = new Float32Array(length / 4)
  const bytes = Buffer.from(vector.buffer)
  if (bytes.write(text, "base64") !== length) return undefined
  if (SWAP) bytes.swap32()
  return vector
}

/** Whether no number of a vector is NaN or infinite. A loop by index: `for … of` takes eight times as long. */
export const isFiniteVector = (vector: Float32Array): boolean => {
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i] as number
    if (value - value !== 0) return false
  }
  return true
}
