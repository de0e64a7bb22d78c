/** Bytes to text: byte order marks, declared charsets, and what to do with text that is not UTF-8. */

import { Effect } from "effect"
import type { RagError } from "../../document/RagError.ts"
import { type DocumentFile, parseError } from "./DocumentFormat.ts"

/** Control characters that no text holds (tab, line ends, form feed and escape are allowed). */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0E-\x1A\x1C-\x1F]/

/** The commonest characters of Chinese prose: a text decoded with the right table is full of them. */
const COMMON_HAN =
  /[的一是不了在人有我他这中大来上国个到说们为子和你地出也时年就那要下以生会自着去之过家，。、]/g

const decodeStrictly = (bytes: Uint8Array, encoding: string): string | undefined => {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Simplified Chinese in GB18030: said only when the result reads like Chinese. */
const decodeChinese = (bytes: Uint8Array): string | undefined => {
  const text = decodeStrictly(bytes, "gb18030")
  if (text === undefined) return undefined
  const foreign = text.match(/[^\0-\x7F]/g)?.length ?? 0
  const common = text.match(COMMON_HAN)?.length ?? 0
  return foreign > 0 && common / foreign >= 0.1 ? text : undefined
}

/** Western European text: accented letters and typographic marks among a majority of ASCII. */
const decodeWestern = (bytes: Uint8Array): string | undefined => {
  let high = 0
  for (const byte of bytes) if (byte >= 0x80) high++
  if (high / bytes.length > 0.2) return undefined
  const text = new TextDecoder("windows-1252").decode(bytes)
  const letters = text.match(/[\u00C0-\u00FFŒœŠšŽžŸ‘’“”–—…€«»°§©·\u00A0]/g)?.length ?? 0
  return letters / high >= 0.9 ? text : undefined
}

/**
 * The text of a file, without its byte order mark; `undefined` when the bytes are no text that we know.
 *
 * Order: byte order mark (UTF-8, UTF-16), `declared` charset (HTML's meta), UTF-8, then GB18030 or windows-1252
 * where the result clearly reads as such.
 */
export const decodeText = (bytes: Uint8Array, declared?: string): string | undefined => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return decodeStrictly(bytes, "utf-16le")
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return decodeStrictly(bytes, "utf-16be")
  // The decoder drops a UTF-8 byte order mark
  const text =
    (declared === undefined ? undefined : decodeStrictly(bytes, declared)) ??
    decodeStrictly(bytes, "utf-8") ??
    decodeChinese(bytes) ??
    decodeWestern(bytes)
  return text === undefined || CONTROL.test(text) ? undefined : text
}

/** The charset that an HTML page declares in its first kilobyte. */
export const declaredCharset = (bytes: Uint8Array): string | undefined => {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 1024))
  return /<meta[^>]+charset\s*=\s*["']?\s*([\w-]+)/i.exec(head)?.[1]
}

/** The text of a file; fails with `Malformed` if its bytes are not text. */
export const decodeFile = Effect.fnUntraced(function* (
  { bytes, path }: DocumentFile,
  label: string,
  declared?: string
) {
  const text = decodeText(bytes, declared)
  if (text !== undefined) return text
  return yield* parseError(
    path,
    "Malformed",
    `not a valid ${label} file: it holds binary data, or text in an unknown encoding. If it is text, save it as UTF-8.`
  )
})

const HTML = /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]{0,2000}?-->\s*)?<(?:!doctype\s+html|html[\s>])/i

/** Fails if a text begins as an HTML page does: its markup would be read as words. */
export const refuseHtml = (path: string, label: string, text: string): Effect.Effect<void, RagError> =>
  HTML.test(text.slice(0, 4096))
    ? Effect.fail(
        parseError(
          path,
          "Malformed",
          `the name says ${label}, but this is an HTML page. Rename it to end in .html.`
        )
      )
    : Effect.void
