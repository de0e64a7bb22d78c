/** Checks that a stream of bytes is a complete MP4. */

/** The types that the first box may have. */
const FIRST = new Set("ftyp styp moov moof mdat sidx pdin free skip wide uuid".split(" "))

/**
 * A reader of one MP4.
 *
 * **Details.** ISO/IEC 14496-12, section 4.2: a file is a sequence of boxes. Each starts with its size in 4 bytes, or in
 * 8 after a size of 1; a size of 0 means to the end of the file. The contents of boxes are skipped.
 *
 * **Gotchas.** A last box of size 0 counts as complete wherever the bytes end. Only a `Content-Length` shows that such a
 * film was cut off.
 */
export const makeMp4Reader = () => {
  const header = new DataView(new ArrayBuffer(16))
  let headerBytes = 0
  /** Remaining bytes of the current box. */
  let left = 0
  /** The types of the boxes so far. */
  const types = new Set<string>()

  /** Parses the header after each new byte. False if it is not a box's. */
  const parseHeader = (): boolean => {
    if (headerBytes < 8) return true
    const type = String.fromCharCode(...new Uint8Array(header.buffer, 4, 4))
    if (types.size === 0 && !FIRST.has(type)) return false
    types.add(type)
    const short = header.getUint32(0)
    if (short === 1 && headerBytes < 16) return true
    const size = short === 0 ? Infinity : short === 1 ? Number(header.getBigUint64(8)) : short
    if (size < headerBytes) return false
    left = size - headerBytes
    headerBytes = 0
    return true
  }

  return {
    /** Reads the next bytes. False if they are not an MP4's. */
    push: (chunk: Uint8Array): boolean => {
      let at = 0
      while (at < chunk.length) {
        if (left > 0) {
          const skipped = Math.min(left, chunk.length - at)
          left -= skipped
          at += skipped
        } else {
          header.setUint8(headerBytes++, chunk[at++] ?? 0)
          if (!parseHeader()) return false
        }
      }
      return true
    },
    /** Whether the bytes so far end at the end of a box and contain a film: `mdat`, and `moov` or `moof`. */
    isComplete: (): boolean =>
      headerBytes === 0 &&
      (left === 0 || left === Infinity) &&
      types.has("mdat") &&
      (types.has("moov") || types.has("moof"))
  }
}
