/** The smallest MP4 that a player opens: a file type, an empty movie of a second, and four bytes of data. */

const box = (type: string, ...contents: ReadonlyArray<Uint8Array | string>): Buffer => {
  const content = Buffer.concat(
    contents.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : part))
  )
  const head = Buffer.alloc(8)
  head.writeUInt32BE(content.length + 8)
  head.write(type, 4, "latin1")
  return Buffer.concat([head, content])
}

const movieHeader = (): Buffer => {
  const header = Buffer.alloc(100)
  header.writeUInt32BE(1000, 12) // units a second
  header.writeUInt32BE(1000, 16) // units
  header.writeUInt32BE(0x0001_0000, 20) // rate 1.0
  header.writeUInt16BE(0x0100, 24) // volume 1.0
  for (const [at, value] of [
    [36, 0x0001_0000],
    [52, 0x0001_0000],
    [68, 0x4000_0000]
  ] as const) {
    header.writeUInt32BE(value, at) // the unity matrix
  }
  header.writeUInt32BE(1, 96) // next track
  return header
}

export const TINY_MP4: Uint8Array = Buffer.concat([
  box("ftyp", "isom\0\0\u0002\0isomiso2mp41"),
  box("moov", box("mvhd", movieHeader())),
  box("mdat", "lock")
])
