/**
 * An MP4 made fit for the web: its index stands before its data, so that a player can begin before the last byte has
 * come, says which frames can be jumped to, and tells no time, so that the same film is the same bytes. The encoder does
 * none of this.
 */

interface Box {
  readonly type: string
  /** Without its head. */
  readonly content: Uint8Array
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The boxes that some bytes are. Throws for boxes of more than 4 GB. */
const boxesOf = (bytes: Uint8Array): ReadonlyArray<Box> => {
  const view = viewOf(bytes)
  const boxes: Array<Box> = []
  for (let start = 0; start < bytes.byteLength;) {
    const size = view.getUint32(start)
    if (size < 8 || start + size > bytes.byteLength) throw new Error(`a box of ${size} bytes does not fit`)
    const type = String.fromCharCode(...bytes.subarray(start + 4, start + 8))
    boxes.push({ type, content: bytes.subarray(start + 8, start + size) })
    start += size
  }
  return boxes
}

const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const out = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.byteLength
  }
  return out
}

/** Of less than 4 GB. */
const boxed = (type: string, content: Uint8Array): Uint8Array => {
  const head = new Uint8Array(8)
  viewOf(head).setUint32(0, content.byteLength + 8)
  head.set(
    [...type].map((letter) => letter.charCodeAt(0)),
    4
  )
  return joined([head, content])
}

/** The frames that stand for themselves, counted from 1: the first, and every so many after it. */
const syncTable = (frames: number, every: number): Uint8Array => {
  const count = Math.ceil(frames / every)
  const table = viewOf(new Uint8Array(8 + count * 4))
  table.setUint32(4, count)
  for (let i = 0; i < count; i++) table.setUint32(8 + i * 4, i * every + 1)
  return boxed("stss", new Uint8Array(table.buffer))
}

/** Boxes on the way to the tables of frames. */
const PARENTS = new Set(["moov", "trak", "mdia", "minf", "stbl"])

/** Boxes that say when the film was made, in eight bytes after four. */
const DATED = new Set(["mvhd", "tkhd", "mdhd"])

/** The same box, its data `by` bytes farther, its frames to jump to told. */
const moved = ({ content, type }: Box, by: number, every: number): Uint8Array => {
  if (type === "stco") {
    const table = content.slice()
    const view = viewOf(table)
    for (let at = 8; at < table.byteLength; at += 4) view.setUint32(at, view.getUint32(at) + by)
    return boxed(type, table)
  }
  if (DATED.has(type)) {
    const timeless = content.slice()
    timeless.fill(0, 4, timeless[0] === 0 ? 12 : 20)
    return boxed(type, timeless)
  }
  if (!PARENTS.has(type)) return boxed(type, content)
  const inner = boxesOf(content)
  const sizes = inner.find((one) => one.type === "stsz")?.content
  const missing = sizes !== undefined && inner.every((one) => one.type !== "stss")
  const sync = missing ? [syncTable(viewOf(sizes).getUint32(8), every)] : []
  return boxed(type, joined([...inner.map((box) => moved(box, by, every)), ...sync]))
}

/** The same film with `moov` before `mdat`; every `syncEvery`th frame is one to jump to. Throws for what is no MP4. */
export const fastStart = (mp4: Uint8Array, syncEvery: number): Uint8Array => {
  const boxes = boxesOf(mp4)
  const index = boxes.find(({ type }) => type === "moov")
  if (index === undefined) throw new Error("the film has no index")
  // What is not needed: room that the encoder left free.
  const rest = boxes.filter(({ type }) => type !== "moov" && type !== "free")
  const before = boxes.slice(
    0,
    boxes.findIndex(({ type }) => type === "mdat")
  )
  const freed = before.reduce(
    (sum, { content, type }) => sum + (type === "free" ? content.byteLength + 8 : 0),
    0
  )
  const size = moved(index, 0, syncEvery).byteLength
  const [first, ...others] = rest.map(({ content, type }) => boxed(type, content))
  if (first === undefined) throw new Error("the film has no data")
  return joined([first, moved(index, size - freed, syncEvery), ...others])
}
