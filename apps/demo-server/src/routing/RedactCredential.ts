/** Our credential in what an upstream answers: it goes no further, wherever it stands. */
import { concealer } from "@sluice/core/client"

/** How a family of keys begins, `sk-`: some gateways repeat a key without it. */
const PREFIX = /^[a-z]+-/

/** What is left of a shorter one without its prefix may be a word. */
const TELLING = 16

const CONCEALED = "<redacted>"
const NO_BYTES = Buffer.alloc(0)

export interface Conceal {
  /** Of what says that something went wrong: a message that is cut may have a part of it. */
  readonly text: (text: string) => string
  /** Of what was asked for: the whole of it alone, since a beginning may be anybody's. The same bytes where there is none. */
  readonly bytes: (bytes: Buffer) => Buffer
  /** The same of bytes that are cut anywhere: those that may be its beginning wait for the next. */
  readonly pieces: () => {
    readonly push: (bytes: Uint8Array) => Uint8Array
    readonly end: () => Uint8Array
  }
}

export const concealOf = (secret: string): Conceal => {
  const text = concealer(secret)
  const bare = secret.replace(PREFIX, "")
  const telling = bare.length < TELLING ? secret : bare
  const sought = Buffer.from(telling)
  const [first = 0] = sought

  /** A credential is ASCII; the parts of other characters, which may be cut, stay as they are. */
  const bytes = (given: Buffer): Buffer =>
    given.includes(sought)
      ? Buffer.from(
          given.toString("latin1").replaceAll(secret, CONCEALED).replaceAll(telling, CONCEALED),
          "latin1"
        )
      : given

  /** Where the last bytes may be its beginning; the end where they are not. */
  const beginningIn = (given: Buffer): number => {
    let at = given.indexOf(first, Math.max(0, given.length - sought.length + 1))
    while (at >= 0 && !sought.subarray(0, given.length - at).equals(given.subarray(at))) {
      at = given.indexOf(first, at + 1)
    }
    return at < 0 ? given.length : at
  }

  return {
    text,
    bytes,
    pieces: () => {
      let waiting: Buffer = NO_BYTES
      return {
        push: (chunk) => {
          const came = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
          const all = bytes(waiting.length === 0 ? came : Buffer.concat([waiting, came]))
          const end = beginningIn(all)
          waiting = all.subarray(end)
          return all.subarray(0, end)
        },
        end: () => waiting
      }
    }
  }
}
