/** Parses an MP4 by ISO/IEC 14496-12. */

interface Box {
  readonly type: string
  readonly start: number
  readonly content: DataView
}

const boxesOf = (bytes: DataView): ReadonlyArray<Box> => {
  const boxes: Array<Box> = []
  for (let start = 0; start < bytes.byteLength;) {
    const size = bytes.getUint32(start)
    const type = String.fromCharCode(...[4, 5, 6, 7].map((at) => bytes.getUint8(start + at)))
    const content = new DataView(bytes.buffer, bytes.byteOffset + start + 8, size - 8)
    boxes.push({ type, start, content })
    start += size
  }
  return boxes
}

export interface Film {
  /** The types of its outermost boxes, in order. */
  readonly order: ReadonlyArray<string>
  readonly width: number
  readonly height: number
  readonly seconds: number
  readonly frames: number
  /** Such as `avc1`. */
  readonly codec: string
  /** Frames that the film says can be jumped to, from 0. */
  readonly jumps: ReadonlyArray<number>
  /** Frames that stand for themselves, from 0: those whose data begins an IDR picture. */
  readonly keys: ReadonlyArray<number>
  /** When it says that it was made, in seconds since 1904. */
  readonly made: number
}

/** The H.264 unit type of a key frame. */
const IDR = 5

/** The type of the first picture unit of each frame. Fails if a frame's units do not fill it. */
const kindsOf = (bytes: DataView, stco: DataView, stsc: DataView, stsz: DataView): ReadonlyArray<number> => {
  const kinds: Array<number> = []
  const runs = Array.from({ length: stsc.getUint32(4) }, (_, i) => ({
    chunk: stsc.getUint32(8 + i * 12),
    frames: stsc.getUint32(12 + i * 12)
  }))
  for (let chunk = 1; chunk <= stco.getUint32(4); chunk++) {
    let at = stco.getUint32(8 + (chunk - 1) * 4)
    const { frames } = runs.findLast((run) => run.chunk <= chunk) ?? { frames: 0 }
    for (let i = 0; i < frames; i++) {
      // One size for all of them, or a size for each.
      const end = at + (stsz.getUint32(4) || stsz.getUint32(12 + kinds.length * 4))
      let kind = 0
      while (at < end) {
        kind ||= bytes.getUint8(at + 4) & 31
        at += 4 + bytes.getUint32(at)
      }
      if (at !== end) throw new Error(`frame ${kinds.length} does not end where the index says`)
      kinds.push(kind)
    }
  }
  return kinds
}

export const readFilm = (mp4: Uint8Array): Film => {
  const whole = new DataView(mp4.buffer, mp4.byteOffset, mp4.byteLength)
  const top = boxesOf(whole)
  const find = (...path: ReadonlyArray<string>): DataView =>
    path.reduce((content, type) => {
      const found = boxesOf(content).find((box) => box.type === type)
      if (found === undefined) throw new Error(`no ${type} in ${path.join("/")}`)
      return found.content
    }, whole)
  const table = (type: string) => find("moov", "trak", "mdia", "minf", "stbl", type)
  const track = find("moov", "trak", "tkhd")
  const movie = find("moov", "mvhd")
  const stsz = table("stsz")
  const stss = table("stss")
  const kinds = kindsOf(whole, table("stco"), table("stsc"), stsz)
  const codec = table("stsd")
  return {
    order: top.map(({ type }) => type),
    width: track.getUint32(76) / 65_536,
    height: track.getUint32(80) / 65_536,
    seconds: movie.getUint32(16) / movie.getUint32(12),
    frames: stsz.getUint32(8),
    codec: String.fromCharCode(...[12, 13, 14, 15].map((at) => codec.getUint8(at))),
    jumps: Array.from({ length: stss.getUint32(4) }, (_, i) => stss.getUint32(8 + i * 4) - 1),
    keys: kinds.flatMap((kind, i) => (kind === IDR ? [i] : [])),
    made: movie.getUint32(4)
  }
}
