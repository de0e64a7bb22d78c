/** Small images of one colour, and bytes that are no supported image. */
import { crc32, deflateSync } from "node:zlib"

export const RED = [220, 0, 0] as const
export const GREEN = [0, 160, 0] as const
export const BLUE = [0, 0, 220] as const

const SIDE = 64

const chunk = (name: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(name), data])
  const out = Buffer.alloc(body.length + 8)
  out.writeUInt32BE(data.length, 0)
  body.copy(out, 4)
  out.writeUInt32BE(crc32(body), body.length + 4)
  return out
}

/** A PNG of 64 × 64 pixels of this colour. */
export const png = (colour: readonly [red: number, green: number, blue: number]): Uint8Array => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(SIDE, 0)
  header.writeUInt32BE(SIDE, 4)
  // Eight bits, red, green and blue.
  header.set([8, 2], 8)
  // Each row begins with its filter type: 0, none.
  const row = [0, ...Array.from({ length: SIDE }, () => colour).flat()]
  const rows = Buffer.from(Array.from({ length: SIDE }, () => row).flat())
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return new Uint8Array(
    Buffer.concat([
      signature,
      chunk("IHDR", header),
      chunk("IDAT", deflateSync(rows)),
      chunk("IEND", new Uint8Array())
    ])
  )
}

const decodeVector = (text: string) => new Uint8Array(Buffer.from(text, "base64"))

/** 8 × 8 pixels of red. */
export const JPEG = decodeVector(
  "/9j/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7gYKBTmCNl4x9lnN+gXz/2wBDARUXFx4aHjshITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHz/wAARCAAIAAgDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAX/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAABAb/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oADAMBAAIRAxEAPwCMACqn/9k="
)
/** 8 × 8 pixels of red. */
export const WEBP = decodeVector("UklGRhwAAABXRUJQVlA4TA8AAAAvB8ABAAcQ5Y7+ByKi/wEA")

/** The first bytes of a GIF. */
export const GIF = new TextEncoder().encode("GIF89a and so on")
