/** Rows as one file of Arrow, in memory for the time of a write. */
import { type Data, type RecordBatch, RecordBatchFileWriter } from "apache-arrow"
import { setImmediate } from "node:timers/promises"

/** Bytes that are copied before other work runs. They take about 5 ms, because the memory is new. */
const COPY_BYTES = 4 * 1024 * 1024

/** A large document has 500 MB of vectors and texts: other work runs between its batches, and between parts of the copy. */
export const writeRows = async <A>(
  rows: Iterable<RecordBatch>,
  write: (bytes: Buffer) => Promise<A>
): Promise<A> => {
  const writer = new RecordBatchFileWriter()
  const written: Array<RecordBatch> = []
  for (const batch of rows) {
    if (written.length > 0) await setImmediate()
    writer.write(batch)
    written.push(batch)
  }
  writer.finish()
  const parts: Array<Uint8Array> = []
  for await (const part of writer) parts.push(part)
  const bytes = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    if ((at % COPY_BYTES) + part.length >= COPY_BYTES) await setImmediate()
    at += part.length
  }
  const result = await write(bytes)
  free(bytes)
  for (const { data } of written) freeColumn(data)
  return result
}

/** Frees a buffer at once, not at the next garbage collection. A buffer that others share stays. */
const free = ({ buffer, byteLength }: ArrayBufferView): void => {
  if (buffer instanceof ArrayBuffer && byteLength > 0 && byteLength === buffer.byteLength) buffer.transfer(0)
}

const freeColumn = ({ children, valueOffsets, values }: Data): void => {
  for (const part of [valueOffsets, values]) if (ArrayBuffer.isView(part)) free(part)
  children.forEach(freeColumn)
}
