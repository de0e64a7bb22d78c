/** Removes the server's credential from responses of upstreams. */
import { makeRedact } from "@sluice/core/client"

/** A key's prefix such as `sk-`. Some gateways repeat a key without it. */
const PREFIX = /^[a-z]+-/

/** A key without its prefix that is shorter than this may be an ordinary word. */
const MIN_BARE_LENGTH = 16

const REDACTED = "<redacted>"
const NO_BYTES = Buffer.alloc(0)

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
}

export const makeRedactor = (secret: string): Redactor => {
  const text = makeRedact(secret)
  const bare = secret.replace(PREFIX, "")
  const shortest = bare.length < MIN_BARE_LENGTH ? secret : bare
  const sought = Buffer.from(shortest)
  const [first = 0] = sought

  /** The credential is ASCII, so latin1 keeps all other bytes, even of cut characters. */
  const bytes = (given: Buffer): Buffer =>
    given.includes(sought)
      ? Buffer.from(
          given.toString("latin1").replaceAll(secret, REDACTED).replaceAll(shortest, REDACTED),
          "latin1"
        )
      : given

  /** The position of a possible start of the credential at the end; the length if there is none. */
  const partialMatch = (given: Buffer): number => {
    let at = given.indexOf(first, Math.max(0, given.length - sought.length + 1))
    while (at >= 0 && !sought.subarray(0, given.length - at).equals(given.subarray(at))) {
      at = given.indexOf(first, at + 1)
    }
    return at < 0 ? given.length : at
  }

  return {
    text,
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
    }
  }
}
