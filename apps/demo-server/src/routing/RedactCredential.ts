/** Removes the server's credential from responses of upstreams. */
import { makeRedact, parseJson } from "@sluice/core/client"

/** A key's prefix such as `sk-`. Some gateways repeat a key without it. */
const PREFIX = /^[a-z]+-/

/**
 * Shorter credentials, such as `none`, are ordinary words: they are not removed from results. So are keys without their
 * prefix.
 */
const MIN_LENGTH = 16

/** Bytes of an escaped character at most: `\\\\u0073`. */
const MAX_ESCAPE = 9

const REDACTED = "<redacted>"
const NO_BYTES = Buffer.alloc(0)

/** The texts of an event that a caller joins with those of other events: of the same field, choice and call of a tool. */
const JOINED =
  /"(content|reasoning_content|reasoning|refusal|arguments|text)"\s*:\s*("[^"\\]*(?:\\.[^"\\]*)*")/g
const INDEX = /"index"\s*:\s*\d{1,9}/g
const MAX_INDEXES = 4

/** Texts of a stream whose ends are kept. */
const MAX_TAILS = 1000

export interface Redactor {
  /** For error messages: also removes parts of the credential, since messages may be cut. */
  readonly text: (text: string) => string
  /** For results: removes only the whole credential. Returns the same bytes if there is none. */
  readonly bytes: (bytes: Buffer) => Buffer
  /** `bytes` for a stream. Holds back bytes that may be the start of the credential. */
  readonly stream: () => {
    readonly push: (bytes: Uint8Array) => Uint8Array
    readonly end: () => Uint8Array
  }
  /** Whether the texts of the events so far, joined, have the start of the credential. Takes whole lines. */
  readonly leak: () => (lines: Uint8Array) => boolean
}

const KEEPS_ALL: Omit<Redactor, "text"> = {
  bytes: (bytes) => bytes,
  stream: () => ({ push: (bytes) => bytes, end: () => NO_BYTES }),
  leak: () => () => false
}

/** Matches a text, also if its characters are escaped as in JSON, once or repeatedly. */
const escapedPattern = (text: string): string =>
  [...text]
    .map((char) => {
      const code = char.charCodeAt(0).toString(16).padStart(2, "0")
      const digits = [...code].map((digit) => `[${digit}${digit.toUpperCase()}]`).join("")
      return `(?:${char.replace(/\W/, "\\$&")}|\\\\+u00${digits}${char === "/" ? "|\\\\+/" : ""})`
    })
    .join("")

/** `others`: values of configured headers and query parameters, which are removed from messages only. */
export const makeRedactor = (secret: string, others: ReadonlyArray<string> = []): Redactor => {
  const removeParts = makeRedact(secret, ...others)
  const bare = secret.replace(PREFIX, "")
  const shortest = bare.length < MIN_LENGTH ? secret : bare
  if (shortest.length < MIN_LENGTH) return { ...KEEPS_ALL, text: removeParts }
  const sought = Buffer.from(shortest)
  const prefix = escapedPattern(secret.slice(0, secret.length - shortest.length))
  const pattern = new RegExp(`(?:${prefix})?${escapedPattern(shortest)}`, "g")
  const longest = secret.length * MAX_ESCAPE
  /** Bytes that the credential may have, escaped or not. */
  const ofSecret = new Set(Buffer.from(`${secret}\\u0123456789abcdefABCDEF`))

  /** Whether characters of the credential may be escaped. Some upstreams escape each `/`. */
  const mayBeEscaped = (given: { readonly includes: (text: string) => boolean }) =>
    given.includes("\\u00") || (secret.includes("/") && given.includes("\\/"))

  /** The credential is ASCII, so latin1 keeps all other bytes, even of cut characters. */
  const bytes = (given: Buffer): Buffer =>
    given.includes(sought) || mayBeEscaped(given)
      ? Buffer.from(given.toString("latin1").replace(pattern, REDACTED), "latin1")
      : given

  /** The position of a possible start of the credential at the end; the length if there is none. */
  const partialMatch = (given: Buffer): number => {
    let at = given.length
    while (at > 0 && given.length - at < longest && ofSecret.has(given[at - 1] ?? 0)) at--
    return at
  }

  return {
    text: (text) => removeParts(mayBeEscaped(text) ? text.replace(pattern, REDACTED) : text),
    bytes,
    stream: () => {
      let waiting: Buffer = NO_BYTES
      return {
        push: (chunk) => {
          const received = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
          const all = bytes(waiting.length === 0 ? received : Buffer.concat([waiting, received]))
          const end = partialMatch(all)
          waiting = all.subarray(end)
          return all.subarray(0, end)
        },
        end: () => waiting
      }
    },
    leak: () => {
      const start = shortest.slice(0, MIN_LENGTH)
      const tails = new Map<string, string>()
      return (lines) => {
        const text = Buffer.from(lines).toString("latin1")
        let end = 0
        let choice = ""
        let counts = new Map<string, number>()
        for (const { 1: field = "", 2: quoted = "", index } of text.matchAll(JOINED)) {
          if (index >= end) {
            const from = text.lastIndexOf("\n", index) + 1
            end = text.indexOf("\n", index) + 1 || text.length
            choice = text.slice(from, end).match(INDEX)?.slice(0, MAX_INDEXES).join() ?? ""
            counts = new Map()
          }
          const count = (counts.get(field) ?? 0) + 1
          counts.set(field, count)
          const place = `${field} ${count} ${choice}`
          const own = String(quoted.includes("\\") ? parseJson(quoted) : quoted.slice(1, -1))
          const joined = (tails.get(place) ?? "") + own
          if (joined.includes(start)) return true
          if (tails.size >= MAX_TAILS) tails.clear()
          tails.set(place, joined.slice(1 - MIN_LENGTH))
        }
        return false
      }
    }
  }
}
