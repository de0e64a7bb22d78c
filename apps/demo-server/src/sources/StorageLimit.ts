/** The storage that a source or pushed records may fill. */
import { RagError, type SourceItem } from "@sluice/rag"
import { ReplacedBytes } from "@sluice/rag/store"
import { Effect } from "effect"
import { SourceFault } from "./kinds/SourceKind.ts"

const full = new SourceFault({
  message:
    "It does not fit into the storage of the collection's owner. Remove documents, or ask an administrator to raise SLUICE_STORAGE_MB"
})

/**
 * Lets items and parsed documents through that fit. A document that replaces one counts with what it adds. `admit` is for
 * `AdmitParsed`.
 */
export const limitStorage = (bytesLeft: number) => {
  let left = bytesLeft
  const grow = <E>(bytes: number, error: E) =>
    Effect.suspend(() => {
      if (bytes > Math.max(0, left)) return Effect.fail(error)
      left -= bytes
      return Effect.void
    })
  const take = (bytes: number) =>
    Effect.flatMap(ReplacedBytes, (replaced) => grow(Math.max(0, bytes - replaced), full))
  const admit = (path: string, bytes: number) =>
    grow(
      bytes,
      new RagError({
        stage: "ingest",
        reason: "TooLarge",
        message: `${path}: ${full.message}`,
        document: path
      })
    )
  const fits = <E>(item: SourceItem<E>): SourceItem<E | SourceFault> => {
    if ("removed" in item) return item
    if ("bytes" in item) {
      const bytes = Effect.isEffect(item.bytes) ? item.bytes : Effect.succeed(item.bytes)
      // A file that takes long to parse is read twice.
      let isTaken = false
      const takeOnce = ({ byteLength }: Uint8Array) =>
        isTaken ? Effect.void : Effect.tap(take(byteLength), () => Effect.sync(() => (isTaken = true)))
      return { ...item, bytes: Effect.tap(bytes, takeOnce) }
    }
    const read = "read" in item ? item.read : Effect.succeed(item)
    const { id, version } = { version: undefined, ...item }
    const bytesOf = (content: Effect.Success<typeof read>) => Buffer.byteLength(JSON.stringify(content))
    return {
      id,
      ...(version !== undefined && { version }),
      read: Effect.tap(read, (content) => take(bytesOf(content)))
    }
  }
  return { admit, fits }
}
