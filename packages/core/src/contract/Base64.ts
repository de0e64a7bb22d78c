/** Base64 (RFC 4648, section 4) of bytes, and of vectors as little-endian float32 numbers. */

import { Schema, SchemaTransformation } from "effect"

/** Bytes as Base64, padded, on one line. */
export const encodeBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")

/**
 * The bytes of a Base64 text, or `undefined` if it is invalid.
 *
 * Strict: standard alphabet, padded, no line breaks, no leftover bits.
 */
export const decodeBase64 = (text: string): Uint8Array | undefined => {
  if (text.length % 4 !== 0) return undefined
  const bytes = Buffer.from(text, "base64")
  // Node skips invalid characters, so only a valid text survives the round trip.
  return bytes.toString("base64") === text
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    : undefined
}

/** The number of bytes that a Base64 text encodes, without decoding it. */
export const base64ByteLength = (text: string): number =>
  Math.floor((text.length * 3) / 4) - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0)

/** True on a big-endian machine. */
const SWAP = new Uint8Array(new Uint16Array([1]).buffer)[0] === 0

/** A vector in the form of `encoding_format: "base64"`. `[0.5, -1, 2]` is `AAAAPwAAgL8AAABA`. */
export const encodeVector = (vector: Float32Array): string => {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)
  return (SWAP ? Buffer.from(bytes).swap32() : bytes).toString("base64")
}

/**
 * The vector that a Base64 text encodes, or `undefined` if it encodes none.
 *
 * It has its own memory: slices of Node's buffer pool need not be aligned to four bytes.
 */
export const decodeVector = (text: string): Float32Array | undefined => {
  const length = base64ByteLength(text)
  if (length <= 0 || text.length % 4 !== 0 || length % 4 !== 0) return undefined
  const bytes = Buffer.allocUnsafeSlow(length)
  if (bytes.write(text, "base64") !== length) return undefined
  if (SWAP) bytes.swap32()
  return new Float32Array(bytes.buffer, 0, length / 4)
}

const VectorText = Schema.String.check(
  Schema.makeFilter((text) => decodeVector(text) !== undefined, { expected: "a vector in Base64" })
)

/** A vector; in JSON, Base64. */
export const Vector = Schema.declare((u): u is Float32Array => u instanceof Float32Array, {
  expected: "a Float32Array",
  toCodecJson: () =>
    Schema.link<Float32Array>()(
      VectorText,
      SchemaTransformation.transform({
        // `VectorText` has checked it.
        decode: (text) => decodeVector(text) ?? new Float32Array(),
        encode: encodeVector
      })
    )
})

/** True if no number is NaN or infinite: then a sum of float32 numbers is finite. Four sums do not wait for each other. */
export const isFiniteVector = (vector: Float32Array): boolean => {
  let [a, b, c, d] = [0, 0, 0, 0]
  for (let i = 0; i < vector.length; i += 4) {
    a += vector[i] as number
    b += vector[i + 1] ?? 0
    c += vector[i + 2] ?? 0
    d += vector[i + 3] ?? 0
  }
  return Number.isFinite(a + b + c + d)
}
