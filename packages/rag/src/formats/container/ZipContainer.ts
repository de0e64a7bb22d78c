/** The ZIP container of office documents, e-books and archives. Parts are inflated as they are read, up to a limit. */
import { type Entry, fromBufferPromise, type ZipFile } from "yauzl"
import { FormatFault, malformed, passwordProtected, tooLarge } from "../parsing/FormatFault.ts"

/** Parts of one container. */
const MAX_ENTRIES = 10_000
/** Bytes that one document may inflate to. */
const MAX_INFLATED_BYTES = 256 * 1024 * 1024
/** Deflate reaches a ratio of 1,032; the XML of long tables about 60. Parts below the size may have any ratio. */
const MAX_RATIO = 200
const RATIO_FROM_BYTES = 4 * 1024 * 1024

/** A fault as it is; any other error means that `what` is damaged. */
const faultOf = (what: string, cause: unknown): FormatFault => {
  if (cause instanceof FormatFault) return cause
  const detail = cause instanceof Error ? cause.message : String(cause)
  return malformed(`${what} is damaged (${detail}). Download it again, or save it again.`)
}

/** A container whose parts are read by name. Names are case-insensitive. */
export class ZipContainer {
  readonly #zip: ZipFile
  readonly #entries: ReadonlyMap<string, Entry>
  #inflated = 0

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip
    this.#entries = entries
  }

  static async open(bytes: Uint8Array): Promise<ZipContainer> {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    try {
      const zip = await fromBufferPromise(buffer, { lazyEntries: true })
      const entries = new Map<string, Entry>()
      if (zip.entryCount > MAX_ENTRIES) {
        throw tooLarge(`it has ${zip.entryCount} parts; the limit is ${MAX_ENTRIES}`)
      }
      for await (const entry of zip.eachEntry()) {
        const name = entry.fileName.toLowerCase()
        if (!entries.has(name)) entries.set(name, entry)
      }
      return new ZipContainer(zip, entries)
    } catch (cause) {
      throw faultOf("this file", cause)
    }
  }

  /** The names of its parts in their order, without folders. */
  get names(): ReadonlyArray<string> {
    return [...this.#entries.values()].map(({ fileName }) => fileName).filter((name) => !name.endsWith("/"))
  }

  has(name: string): boolean {
    return this.#entries.has(name.toLowerCase())
  }

  /** The bytes of a part in chunks; none if there is no such part. Throws a `FormatFault` past a limit, and if it is damaged. */
  async *read(name: string): AsyncGenerator<Uint8Array> {
    const entry = this.#entries.get(name.toLowerCase())
    if (entry === undefined) return
    if (entry.isEncrypted()) throw passwordProtected()
    let size = 0
    try {
      for await (const chunk of await this.#zip.openReadStreamPromise(entry)) {
        const bytes = chunk as Uint8Array
        size += bytes.length
        this.#inflated += bytes.length
        const ratio = size / Math.max(1, entry.compressedSize)
        if (this.#inflated > MAX_INFLATED_BYTES || (size > RATIO_FROM_BYTES && ratio > MAX_RATIO)) {
          throw tooLarge(
            `it inflates past the limit of ${MAX_INFLATED_BYTES / 1048576} MiB, or of ${MAX_RATIO} times the size for one part: ${name} has ${Math.round(ratio)} times`
          )
        }
        yield bytes
      }
    } catch (cause) {
      throw faultOf(`its part ${name}`, cause)
    }
  }

  /** The bytes of a part; undefined if there is no such part or it has more than `maxBytes`. */
  async bytes(name: string, maxBytes: number): Promise<Uint8Array | undefined> {
    if (!this.has(name)) return undefined
    const chunks: Array<Uint8Array> = []
    let size = 0
    for await (const chunk of this.read(name)) {
      size += chunk.length
      if (size > maxBytes) return undefined
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  }
}
