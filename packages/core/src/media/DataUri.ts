/** `data:image/png;base64,…`: bytes and what they are, in one text. */
import { encodeBase64 } from "../contract/Base64.ts"

/** What a data URI says, in its two parts. */
export interface DataUri {
  /** In small letters, such as `image/png`; `text/plain` where the URI names none (RFC 2397). */
  readonly mediaType: string
  /** As it stands in the URI, not yet checked. */
  readonly base64: string
}

const HEAD = /^data:([^,;]*)((?:;[^,;]*)*),/i
/** A longer head is no head. */
const HEAD_LENGTH = 256

/** Whether a text begins as a data URI does; `parseDataUri` says whether it is one in Base64. */
export const isDataUri = (text: string): boolean => /^data:/i.test(text)

/** The parts of a data URI in Base64, or `undefined` when the text is none. */
export const parseDataUri = (text: string): DataUri | undefined => {
  const [head, mediaType = "", parameters = ""] = HEAD.exec(text.slice(0, HEAD_LENGTH)) ?? []
  if (head === undefined || !/;base64$/i.test(parameters)) return undefined
  return { mediaType: mediaType.toLowerCase() || "text/plain", base64: text.slice(head.length) }
}

/** Bytes as a data URI in Base64. */
export const makeDataUri = (mediaType: string, bytes: Uint8Array): string =>
  `data:${mediaType};base64,${encodeBase64(bytes)}`
