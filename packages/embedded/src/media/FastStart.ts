/**
 * Prepares an MP4 for the web: the index before the data, so that playback can begin during the download; a table of key
 * frames; and no creation time, so that the same film has the same bytes. The encoder does none of this.
 */

interface Box {
  readonly type: string
  /** Without its header. */
  readonly content: Uint8Array
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Parses boxes. Throws for boxes over 4 GB. */
const parseBoxes = (bytes: Uint8Array): ReadonlyArray<Box> => {
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

/** Encodes a box below 4 GB. */
const encodeBox = (type: string, content: Uint8Array): Uint8Array => {
  const head = Buffer.from(`0000${type}`, "latin1")
  head.writeUInt32BE(content.byteLength + 8)
  return Buffer.concat([head, content])
}

/** The key frames, counted from 1: the first, and every `every`th after it. */
const syncTable = (frames: number, every: number): Uint8Array => {
  const count = Math.ceil(frames / every)
  const table = viewOf(new Uint8Array(8 + count * 4))
  table.setUint32(4, count)
  for (let i = 0; i < count; i++) table.setUint32(8 + i * 4, i * every + 1)
  return encodeBox("stss", new Uint8Array(table.buffer))
}

/** Boxes that contain the tables of frames. */
const PARENTS = new Set(["moov", "trak", "mdia", "minf", "stbl"])

/** Boxes with a creation time, in eight bytes after four. */
const WITH_TIME = new Set(["mvhd", "tkhd", "mdhd"])

/** The box for data `by` bytes later, with a table of key frames. */
const moveBox = ({ content, type }: Box, by: number, every: number): Uint8Array => {
  if (type === "stco") {
    const table = content.slice()
    const view = viewOf(table)
    for (let at = 8; at < table.byteLength; at += 4) view.setUint32(at, view.getUint32(at) + by)
    return encodeBox(type, table)
  }
  if (WITH_TIME.has(type)) {
    const withoutTime = content.slice()
    withoutTime.fill(0, 4, withoutTime[0] === 0 ? 12 : 20)
    return encodeBox(type, withoutTime)
  }
  if (!PARENTS.has(type)) return encodeBox(type, content)
  const inner = parseBoxes(content)
  const sizes = inner.find((one) => one.type === "stsz")?.content
  const missing = sizes !== undefined && inner.every((one) => one.type !== "stss")
  const sync = missing ? [syncTable(viewOf(sizes).getUint32(8), every)] : []
  return encodeBox(type, Buffer.concat([...inner.map((box) => moveBox(box, by, every)), ...sync]))
}

/** The film with `moov` before `mdat` and a key frame every `syncEvery` frames. Throws for an invalid MP4. */
export const fastStart = (mp4: Uint8Array, syncEvery: number): Uint8Array => {
  const boxes = parseBoxes(mp4)
  const index = boxes.find(({ type }) => type === "moov")
  if (index === undefined) throw new Error("the film has no index")
  // The encoder's free space is dropped.
  const rest = boxes.filter(({ type }) => type !== "moov" && type !== "free")
  const data = boxes.findIndex(({ type }) => type === "mdat")
  const free = boxes.slice(0, data).filter(({ type }) => type === "free")
  const freed = free.reduce((sum, { content }) => sum + content.byteLength + 8, 0)
  const size = moveBox(index, 0, syncEvery).byteLength
  const [first, ...others] = rest.map(({ content, type }) => encodeBox(type, content))
  if (first === undefined) throw new Error("the film has no data")
  // A copy, because the memory of a small `Buffer` is shared and cannot be sent to another thread.
  return new Uint8Array(Buffer.concat([first, moveBox(index, size - freed, syncEvery), ...others]))
}
