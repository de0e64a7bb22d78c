/** What an image is, by its first bytes: never by its name or by what it says of itself. */

/** The formats that gateways take. */
export const IMAGE_FORMATS = ["png", "jpeg", "webp"] as const
export type ImageFormat = (typeof IMAGE_FORMATS)[number]

const ascii = (bytes: Uint8Array, from: number, to: number): string =>
  String.fromCharCode(...bytes.subarray(from, to))

const starts = (bytes: Uint8Array, ...wanted: ReadonlyArray<number>): boolean =>
  wanted.every((byte, at) => bytes[at] === byte)

/** The format of an image by its magic bytes, or `undefined` when it is none of the three. */
export const imageFormatOf = (bytes: Uint8Array): ImageFormat | undefined => {
  if (starts(bytes, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return "png"
  if (starts(bytes, 0xff, 0xd8, 0xff)) return "jpeg"
  return ascii(bytes, 0, 4) === "RIFF" && ascii(bytes, 8, 12) === "WEBP" ? "webp" : undefined
}

/** What bytes are that are no image which gateways take, for the sentence that refuses them. */
export const nameOfBytes = (bytes: Uint8Array): string => {
  const head = ascii(bytes, 0, 12)
  if (bytes.length === 0) return "empty"
  if (/^GIF8[79]a/.test(head)) return "a GIF"
  if (/^ftyp(avif|avis)/.test(head.slice(4))) return "an AVIF image"
  if (/^ftyp(hei|hev|mif1|msf1)/.test(head.slice(4))) return "a HEIC image"
  if (head.slice(4).startsWith("ftyp")) return "a video"
  if (head.startsWith("BM")) return "a BMP image"
  if (/^(II\*\0|MM\0\*)/.test(head)) return "a TIFF image"
  if (head.startsWith("%PDF-")) return "a PDF document"
  return /^\s*</.test(head) ? "SVG, HTML or other markup" : "of an unknown format"
}

/** `image/png`, `image/jpeg` or `image/webp`. */
export const mediaTypeOf = (format: ImageFormat): `image/${ImageFormat}` => `image/${format}`
