/** Parses responses of embeddings. */
import { isAscii } from "node:buffer"
import { Predicate } from "effect"
import { parseJson } from "../../contract/Fields.ts"

const KEY = Buffer.from('"embedding"')
const QUOTE = 0x22
const COLON = 0x3a
const SPACE = 0x20

/** The position of the first byte that is no white space. */
const skipSpace = (bytes: Buffer, at: number): number => {
  let next = at
  while ((bytes[next] ?? Infinity) <= SPACE) next++
  return next
}

/** The position after the quote that begins the text of the key at `at`; undefined if its value is no text. */
const textStart = (bytes: Buffer, at: number): number | undefined => {
  const colon = skipSpace(bytes, at + KEY.length)
  const quote = skipSpace(bytes, colon + 1)
  return bytes[colon] === COLON && bytes[quote] === QUOTE ? quote + 1 : undefined
}

const utf8 = new TextDecoder()

/**
 * The JSON of a response; undefined if it is none.
 *
 * **Details.** Vectors in Base64 are cut out before the rest is parsed, and put back: V8 reads the texts of JSON byte by
 * byte and copies them, which takes as long as everything else in the call. A response in which they are elsewhere than
 * `data` is parsed as it is.
 */
export const parseEmbeddings = (buffer: ArrayBuffer): unknown => {
  const bytes = Buffer.from(buffer)
  const vectors: Array<string> = []
  let rest = ""
  let from = 0
  for (let at = bytes.indexOf(KEY); at !== -1; at = bytes.indexOf(KEY, at + KEY.length)) {
    const start = textStart(bytes, at)
    const end = start === undefined ? -1 : bytes.indexOf(QUOTE, start)
    if (start === undefined || end === -1) continue
    const text = bytes.subarray(start, end)
    if (!isAscii(text) || text.includes("\\")) continue
    rest += utf8.decode(bytes.subarray(from, start)) + vectors.length
    vectors.push(text.toString("latin1"))
    from = end
    at = end - KEY.length
  }
  const whole = () => parseJson(utf8.decode(bytes))
  if (vectors.length === 0) return whole()
  const json = parseJson(rest + utf8.decode(bytes.subarray(from)))
  const data = Predicate.isObject(json) ? json["data"] : undefined
  let next = 0
  for (const entry of Array.isArray(data) ? data : []) {
    if (Predicate.isObject(entry) && entry["embedding"] === String(next)) {
      Object.assign(entry, { embedding: vectors[next++] })
    }
  }
  return next === vectors.length ? json : whole()
}
