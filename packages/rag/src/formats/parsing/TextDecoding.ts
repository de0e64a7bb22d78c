/** Decodes text files: byte order marks, declared charsets, UTF-8, and other encodings by detection. */
import chardet from "chardet"
import { Effect } from "effect"
import type { RagError } from "../../document/RagError.ts"
import { type DocumentFile, parseError } from "./DocumentFormat.ts"

/** Control characters that text files do not contain. Tab, line ends, form feed and escape are allowed. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0E-\x1A\x1C-\x1F]/
/** chardet's confidence, 0 to 100. See docs/decisions/0018. */
const MIN_CONFIDENCE = 20
/**
 * Lead in confidence over the next encoding that gives another text. On the texts of 0018 it leaves no document of 472
 * wrong (5 without it, 6 more are refused), and 59 of 955 single sentences (99; 17 fewer are right).
 */
const MIN_LEAD = 8
/** Detection looks at the start of a file; it takes 6 ms for this many bytes. */
const SAMPLE_BYTES = 65_536

const decodeStrictly = (bytes: Uint8Array, encoding: string): string | undefined => {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const decodeDetected = (bytes: Uint8Array): string | undefined => {
  const [best, ...others] = chardet.analyse(bytes.subarray(0, SAMPLE_BYTES))
  if (best === undefined || best.confidence < MIN_CONFIDENCE) return undefined
  const text = decodeStrictly(bytes, best.name)
  const isAmbiguous = others.some(
    ({ confidence, name }) =>
      confidence > best.confidence - MIN_LEAD && ![text, undefined].includes(decodeStrictly(bytes, name))
  )
  return isAmbiguous ? undefined : text
}

/**
 * The text of a file without its byte order mark; undefined for binary data and unknown encodings.
 *
 * Tries the byte order mark (UTF-8, UTF-16), the `declared` charset (HTML's meta), UTF-8, and then the detected encoding.
 */
export const decodeText = (bytes: Uint8Array, declared?: string): string | undefined => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return decodeStrictly(bytes, "utf-16le")
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return decodeStrictly(bytes, "utf-16be")
  // The decoder drops a UTF-8 byte order mark.
  const text =
    (declared === undefined ? undefined : decodeStrictly(bytes, declared)) ??
    decodeStrictly(bytes, "utf-8") ??
    decodeDetected(bytes)
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
    `not a valid ${label} file: it is binary, or text in an unknown encoding. If it is text, save it as UTF-8.`
  )
})

const HTML = /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]{0,2000}?-->\s*)?<(?:!doctype\s+html|html[\s>])/i

/** Fails if a text is an HTML page: its markup would be read as words. */
export const rejectHtml = (path: string, label: string, text: string): Effect.Effect<void, RagError> => {
  const message = `the name says ${label}, but this is an HTML page. Rename it to end in .html.`
  return HTML.test(text.slice(0, 4096)) ? Effect.fail(parseError(path, "Malformed", message)) : Effect.void
}
