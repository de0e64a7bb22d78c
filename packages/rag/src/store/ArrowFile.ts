/** Rows as one file of Arrow, in memory for the time of a write. */
import { type Data, type RecordBatch, RecordBatchFileWriter } from "apache-arrow"
import { setImmediate } from "node:timers/promises"
import { joinInPortions } from "../document/Portions.ts"

/** A large document has 500 MB of vectors and texts: other work runs between its batches, and between parts of the copy. */
export const writeRows = async <A>(
  rows: Iterable<RecordBatch>,
  write: (bytes: Buffer) => Promise<A>
): Promise<A> => {
  const writer = new RecordBatchFileWriter()
  // Taken while they are written: to take many parts that wait costs the square of their number.
  const taken = allOf(writer)
  const written: Array<RecordBatch> = []
  for (const batch of rows) {
    if (written.length > 0) await setImmediate()
    writer.write(batch)
    written.push(batch)
  }
  writer.finish()
  const bytes = await joinInPortions(await taken)
  const result = await write(bytes)
  free(bytes)
  for (const [i, { data }] of written.entries()) {
    if (i > 0) await setImmediate()
    freeColumn(data)
  }
  return result
}

const allOf = async <A>(items: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const all: Array<A> = []
  for await (const item of items) all.push(item)
  return all
}

/** Frees a buffer at once, not at the next garbage collection. A buffer that others share stays. */
const free = ({ buffer, byteLength }: ArrayBufferView): void => {
  if (buffer instanceof ArrayBuffer && byteLength > 0 && byteLength === buffer.byteLength) buffer.transfer(0)
}

const freeColumn = ({ children, valueOffsets, values }: Data): void => {
  for (const part of [valueOffsets, values]) if (ArrayBuffer.isView(part)) free(part)
  children.forEach(freeColumn)
}
