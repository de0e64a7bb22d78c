/** Follows the boxes of an MP4 as it comes, and so knows whether it is one and whether it is whole. */

export interface Mp4Reader {
  /** Takes the next bytes; false when they are no MP4's. */
  readonly push: (chunk: Uint8Array) => boolean
  /** Whether the bytes so far end where a box ends, and there is a film in them: `mdat`, and `moov` or `moof`. */
  readonly isWhole: () => boolean
}

/** What the first box of an MP4 can be. */
const FIRST = new Set([
  "ftyp",
  "styp",
  "moov",
  "moof",
  "mdat",
  "sidx",
  "pdin",
  "free",
  "skip",
  "wide",
  "uuid"
])

/** The boxes without which there is no film: what is shown, and one of two that say when. */
const FILM = new Set(["mdat", "moov", "moof"])

/**
 * A reader of one MP4.
 *
 * **Details.** ISO/IEC 14496-12, section 4.2: a file is boxes one after another, each with its size before it, in four
 * bytes or, after a 1, in eight; 0 means up to the end of the file. Nothing within a box is looked at.
 *
 * **Gotchas.** Whether a last box of size 0 is whole cannot be told from the bytes: it counts as whole wherever they end.
 * Only a `Content-Length` says that such a film was cut off.
 */
export const makeMp4Reader = (): Mp4Reader => {
  const header = new DataView(new ArrayBuffer(16))
  let held = 0
  /** Bytes of the box under way that are still to come. */
  let left = 0
  let isFirst = true
  /** What the boxes are whose headers have come. */
  const types = new Set<string>()

  /** The header has grown by a byte: false when it is none. */
  const step = (): boolean => {
    if (held < 8) return true
    const type = String.fromCharCode(...new Uint8Array(header.buffer, 4, 4))
    if (isFirst) {
      isFirst = false
      if (!FIRST.has(type)) return false
    }
    if (FILM.has(type)) types.add(type)
    const short = header.getUint32(0)
    if (short === 1 && held < 16) return true
    const size = short === 0 ? Infinity : short === 1 ? Number(header.getBigUint64(8)) : short
    if (size < held) return false
    left = size - held
    held = 0
    return true
  }

  return {
    push: (chunk) => {
      let at = 0
      while (at < chunk.length) {
        if (left > 0) {
          const skipped = Math.min(left, chunk.length - at)
          left -= skipped
          at += skipped
        } else {
          header.setUint8(held++, chunk[at++] ?? 0)
          if (!step()) return false
        }
      }
      return true
    },
    isWhole: () =>
      held === 0 &&
      (left === 0 || left === Infinity) &&
      types.has("mdat") &&
      (types.has("moov") || types.has("moof"))
  }
}
