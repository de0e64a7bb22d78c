/** Recognizes files by their first bytes. */

/** Whether `signature`, one byte a character, is at offset `at`. */
export const hasSignature = (bytes: Uint8Array, signature: string, at = 0): boolean => {
  for (let i = 0; i < signature.length; i++) {
    if (bytes[at + i] !== signature.charCodeAt(i)) return false
  }
  return true
}

const UNSUPPORTED: ReadonlyArray<readonly [signature: string, name: string]> = [
  ["GIF8", "a GIF image"],
  ["II*\0", "a TIFF image"],
  ["MM\0*", "a TIFF image"],
  ["\x1F\x8B", "a gzip archive"],
  ["7z\xBC\xAF", "a 7-Zip archive"],
  ["\x7FELF", "a program"],
  ["{\\rtf", "an RTF document"]
]

/** Names a known format that is not supported. */
export const unsupportedSignature = (bytes: Uint8Array): string | undefined =>
  hasSignature(bytes, "BM") && hasSignature(bytes, "\0\0\0\0", 6)
    ? "a BMP image"
    : UNSUPPORTED.find(([signature]) => hasSignature(bytes, signature))?.[1]
