/** The ZIP container of a Word document. Its parts are inflated as they are read, and never past a limit. */
import { posix } from "node:path"
import { type Entry, fromBufferPromise, type ZipFile } from "yauzl"
import { DocxFault } from "./DocxFault.ts"

/** Parts of one container, at most. */
const ENTRIES_AT_MOST = 10_000
/** Bytes that are inflated for one document, at most. */
const INFLATED_AT_MOST = 256 * 1024 * 1024
/** Deflate reaches 1,032; the XML of long tables about 60. Small parts may reach any ratio. */
const RATIO_AT_MOST = 200
const RATIO_FROM = 4 * 1024 * 1024

const ADVICE = "Open it in Word and save it again; if that does not help, split it."

/** A container whose parts are read by name, in small or capital letters. */
export class DocxPackage {
  readonly #zip: ZipFile
  readonly #entries: ReadonlyMap<string, Entry>
  #inflated = 0

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip
    this.#entries = entries
  }

  static async open(bytes: Uint8Array): Promise<DocxPackage> {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    try {
      const zip = await fromBufferPromise(buffer, { lazyEntries: true })
      const entries = new Map<string, Entry>()
      if (zip.entryCount > ENTRIES_AT_MOST) {
        throw new DocxFault(
          "TooLarge",
          `it has ${zip.entryCount} parts, more than ${ENTRIES_AT_MOST}. ${ADVICE}`
        )
      }
      for await (const entry of zip.eachEntry()) {
        const name = entry.fileName.toLowerCase()
        if (!entries.has(name)) entries.set(name, entry)
      }
      return new DocxPackage(zip, entries)
    } catch (cause) {
      if (cause instanceof DocxFault) throw cause
      throw new DocxFault(
        "Malformed",
        `this Word file is damaged (${messageOf(cause)}). Download it again, or ${lower(ADVICE)}`
      )
    }
  }

  has(name: string): boolean {
    return this.#entries.has(name.toLowerCase())
  }

  /** The bytes of a part, piece by piece. Fails past a limit, and where the part is damaged. */
  async *read(name: string): AsyncGenerator<Uint8Array> {
    const entry = this.#entries.get(name.toLowerCase())
    if (entry === undefined) return
    if (entry.isEncrypted()) {
      throw new DocxFault(
        "Encrypted",
        "this Word file is password-protected. Save it in Word without a password."
      )
    }
    let size = 0
    try {
      for await (const piece of await this.#zip.openReadStreamPromise(entry)) {
        const bytes = piece as Uint8Array
        size += bytes.length
        this.#inflated += bytes.length
        const ratio = size / Math.max(1, entry.compressedSize)
        if (this.#inflated > INFLATED_AT_MOST || (size > RATIO_FROM && ratio > RATIO_AT_MOST)) {
          throw new DocxFault(
            "TooLarge",
            `it inflates to more than is read: ${name} alone is ${Math.round(ratio)} times as large as in the file, and ${INFLATED_AT_MOST / 1048576} MiB together are the most. ${ADVICE}`
          )
        }
        yield bytes
      }
    } catch (cause) {
      if (cause instanceof DocxFault) throw cause
      throw new DocxFault(
        "Malformed",
        `its part ${name} is damaged (${messageOf(cause)}). Fetch it again, or ${lower(ADVICE)}`
      )
    }
  }

  /** A part whole; undefined where there is none or it has more than `most` bytes. */
  async bytes(name: string, most: number): Promise<Uint8Array | undefined> {
    if (!this.has(name)) return undefined
    const pieces: Array<Uint8Array> = []
    let size = 0
    for await (const piece of this.read(name)) {
      size += piece.length
      if (size > most) return undefined
      pieces.push(piece)
    }
    return Buffer.concat(pieces)
  }
}

/** The name of a part that another one refers to. */
export const partName = (from: string, target: string): string =>
  target.startsWith("/")
    ? posix.normalize(target).slice(1)
    : posix.normalize(posix.join(posix.dirname(from), target))

/** The part that tells what a part refers to. */
export const relationsOf = (name: string): string =>
  posix.join(posix.dirname(name), "_rels", `${posix.basename(name)}.rels`)

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
const lower = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1)
