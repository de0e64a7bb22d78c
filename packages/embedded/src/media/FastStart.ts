/** An MP4 whose index stands before its data, so that a player can begin before the last byte has come. */

interface Box {
  readonly type: string
  /** Where the box begins, where its content begins, and where it ends, in bytes. */
  readonly start: number
  readonly content: number
  readonly end: number
}

/** The boxes between two places. */
const boxesOf = (view: DataView, from: number, to: number): ReadonlyArray<Box> => {
  const boxes: Array<Box> = []
  for (let start = from; start + 8 <= to;) {
    const short = view.getUint32(start)
    const long = short === 1
    const size = long ? Number(view.getBigUint64(start + 8)) : short === 0 ? to - start : short
    const head = long ? 16 : 8
    if (size < head || start + size > to) throw new Error(`a box of ${size} bytes at ${start} does not fit`)
    const type = String.fromCharCode(...[4, 5, 6, 7].map((at) => view.getUint8(start + at)))
    boxes.push({ type, start, content: start + head, end: start + size })
    start += size
  }
  return boxes
}

/** Boxes on the way to the tables that say where the data lies. */
const PARENTS = new Set(["moov", "trak", "mdia", "minf", "stbl"])

/** Adds to every place in the tables, 32 and 64 bits wide. */
const shiftPlaces = (view: DataView, box: Box, by: number): void => {
  if (PARENTS.has(box.type)) {
    for (const inner of boxesOf(view, box.content, box.end)) shiftPlaces(view, inner, by)
    return
  }
  if (box.type !== "stco" && box.type !== "co64") return
  const count = view.getUint32(box.content + 4)
  for (let i = 0; i < count; i++) {
    if (box.type === "stco") {
      const at = box.content + 8 + i * 4
      view.setUint32(at, view.getUint32(at) + by)
    } else {
      const at = box.content + 8 + i * 8
      view.setBigUint64(at, view.getBigUint64(at) + BigInt(by))
    }
  }
}

/** The same film with `moov` before `mdat`. Throws for what is no MP4. */
export const fastStart = (mp4: Uint8Array): Uint8Array => {
  const view = new DataView(mp4.buffer, mp4.byteOffset, mp4.byteLength)
  const boxes = boxesOf(view, 0, mp4.byteLength)
  const index = boxes.find(({ type }) => type === "moov")
  const data = boxes.find(({ type }) => type === "mdat")
  if (index === undefined || data === undefined) throw new Error("the film has no index or no data")
  if (index.start < data.start) return mp4
  const moov = mp4.slice(index.start, index.end)
  const moved = new DataView(moov.buffer)
  for (const box of boxesOf(moved, 0, moov.byteLength)) shiftPlaces(moved, box, moov.byteLength)
  const out = new Uint8Array(mp4.byteLength)
  let at = 0
  const put = (bytes: Uint8Array) => {
    out.set(bytes, at)
    at += bytes.byteLength
  }
  for (const box of boxes) {
    if (box === data) put(moov)
    if (box !== index) put(mp4.subarray(box.start, box.end))
  }
  return out
}
