/** Images of any size, complete or only their headers. */
import { crc32, deflateSync } from "node:zlib"

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}

/** A complete grey PNG. */
export const png = (width: number, height: number): Uint8Array => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  const pixels = deflateSync(Buffer.alloc((width + 1) * height, 0))
  return new Uint8Array(
    Buffer.concat([
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
      chunk("IHDR", header),
      chunk("IDAT", pixels),
      chunk("IEND", Buffer.alloc(0))
    ])
  )
}

/** A JPEG up to its frame header: a comment, fill bytes, a restart, tables, then the frame. */
export const jpegHead = (width: number, height: number, frame = 0xc0): Uint8Array =>
  Uint8Array.from(
    [
      [0xff, 0xd8, 0xff, 0xfe, 0, 6, 1, 2, 0xff, 0xc0],
      [0xff, 0xff, 0xff, 0xd0, 0xff, 0xc4, 0, 3, 0],
      [0xff, frame, 0, 17, 8, height >> 8, height & 255, width >> 8, width & 255, 3]
    ].flat()
  )

const riff = (kind: string, data: ReadonlyArray<number>): Uint8Array =>
  Uint8Array.from([...Buffer.from("RIFF\0\0\0\0WEBP"), ...Buffer.from(kind), 0, 0, 0, 0, ...data])

const little = (value: number, bytes: number) =>
  Array.from({ length: bytes }, (_, i) => (value >>> (8 * i)) & 255)

export const webpLossyHead = (width: number, height: number): Uint8Array =>
  riff("VP8 ", [0, 0, 0, 0x9d, 0x01, 0x2a, ...little(width, 2), ...little(height, 2)])
export const webpLosslessHead = (width: number, height: number): Uint8Array =>
  riff("VP8L", [0x2f, ...little((width - 1) | ((height - 1) << 14), 4)])
export const webpExtendedHead = (width: number, height: number): Uint8Array =>
  riff("VP8X", [0, 0, 0, 0, ...little(width - 1, 3), ...little(height - 1, 3)])

/** One-pixel files written by encoders. */
export const onePixel = {
  png: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  jpeg: "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=",
  webpLossy: "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA",
  webpLossless: "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==",
  webpExtended:
    "UklGRlIAAABXRUJQVlA4WAoAAAASAAAAAAAAAAAAQU5JTQYAAAD/////AABBTk1GJgAAAAAAAAAAAAAAAAAAAGQAAABWUDhMDQAAAC8AAAAQBxAREYiI/gcA",
  gif: "R0lGODlhAQABAAAAACwAAAAAAQABAAA="
} as const
