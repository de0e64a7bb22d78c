/** Documents and passages as Arrow rows, and back. */
import {
  type Data,
  type FixedSizeList,
  Float32,
  Float64,
  Int32,
  makeData,
  RecordBatch,
  type Schema,
  Struct,
  Table,
  Utf8,
  vectorFromArray
} from "apache-arrow"
import type { DocumentInfo, Line, PassageFigure, StoredPassage } from "../../document/Document.ts"
import { inPortions, passageWeight } from "../../document/Portions.ts"
import type { IndexedDocument, IndexedPassage, StoredDocument } from "../PassageIndex.ts"
import { passagesSchema, vectorType } from "./LanceTables.ts"

/** A document's column `metadata`. */
type DocumentMetadata = Omit<DocumentInfo, "id"> & Omit<StoredDocument, "info" | "isComplete">

/** The column `passage`: a passage without its identifier. */
interface PassageJson extends Omit<StoredPassage, "id" | "document" | "lines" | "figure"> {
  readonly document: StoredPassage["document"]
  readonly lines?: ReadonlyArray<PackedLine> | undefined
  readonly figure?: PassageFigure | undefined
}

/** A line as an array of numbers, half the size of an object. */
type PackedLine = readonly [start: number, end: number, page: number, ...box: Line["box"]]

/** The columns of a document's own row that are read. */
export type DocumentRow = Readonly<Record<"document" | "metadata", string>>

/** The column of a passage's row that is read. */
export type PassageRow = Readonly<Record<"passage", string>>

/** The identifier of a document's own row. */
export const documentRowId = (document: string): string => `${document}#`

interface Row {
  readonly id: string
  readonly document: string
  readonly kind: "document" | "passage" | "figure" | "table" | "gone"
  readonly ordinal?: number
  readonly hash?: string
  readonly passage?: IndexedPassage
  /** The passage's document. */
  readonly of?: Pick<DocumentInfo, "path" | "title" | "format">
  readonly metadata?: string
}

export const documentRow = (
  { id, ...known }: DocumentInfo,
  kept: Pick<DocumentMetadata, "source" | "reading" | "attachments" | "pictures" | "version">
): Row => {
  const { attachments, pictures, reading, source, version } = kept
  const metadata: DocumentMetadata = { ...known, source, reading, attachments, pictures, version }
  const row = { id: documentRowId(id), document: id, kind: "document", hash: known.sha256 } as const
  return { ...row, metadata: JSON.stringify(metadata) }
}

/** One row for each document and passage, and for each passage that a longer version had. */
export const lanceRows = (documents: ReadonlyArray<IndexedDocument>): ReadonlyArray<Row> =>
  documents.flatMap(({ attachments, info, passages, pictures, reading, replaces, source, version }) => {
    const document = info.id
    const kept = { source, reading, attachments: [...attachments.keys()], pictures, version }
    const rows: Array<Row> = [documentRow(info, kept)]
    for (const passage of passages) {
      const { figure, ordinal } = passage.passage
      const kind = figure?.kind ?? "passage"
      rows.push({
        id: `${document}#${ordinal}`,
        document,
        kind,
        ordinal,
        hash: passage.hash,
        passage,
        of: info
      })
    }
    const before = replaces?.info.passages ?? 0
    for (let ordinal = passages.length; ordinal < before; ordinal++)
      rows.push({ id: `${document}#${ordinal}`, document, kind: "gone", ordinal })
    return rows
  })

/** The passages of a batch weigh this. They take about 10 ms, for their JSON and the memory of their vectors. */
const BATCH = 100

const rowWeight = ({ passage }: Row): number => (passage === undefined ? 1 : passageWeight(passage.passage))

/** Rows as Arrow batches, which are made one by one. */
export function* toBatches(rows: ReadonlyArray<Row>, dimension: number): Generator<RecordBatch> {
  const schema = passagesSchema(dimension)
  for (const some of inPortions(rows, BATCH, rowWeight)) yield toBatch(schema, some, dimension)
}

/** Rows as an Arrow table. */
export const toArrow = (rows: ReadonlyArray<Row>, dimension: number): Table =>
  new Table([...toBatches(rows, dimension)])

/** Vectors are copied once, into one block. */
const toBatch = (schema: Schema, rows: ReadonlyArray<Row>, dimension: number): RecordBatch => {
  const texts = (value: (row: Row) => string | undefined) => utf8(rows.map((row) => value(row) ?? null))
  const integers = (value: (row: Row) => number | undefined) =>
    vectorFromArray(
      rows.map((row) => value(row) ?? null),
      new Int32()
    ).data[0]
  return recordBatch(schema, rows.length, [
    texts((row) => row.id),
    texts((row) => row.document),
    texts((row) => row.kind),
    integers((row) => row.ordinal),
    texts((row) => row.hash),
    vectors(
      rows.map((row) => directed(row.passage?.vector)),
      dimension
    ),
    integers((row) => row.passage?.passage.page),
    texts((row) => row.of?.path),
    texts((row) => row.of?.title),
    texts((row) => row.of?.format),
    texts((row) => row.passage && row.of && encodePassage(row.document, row.of, row.passage)),
    texts((row) => row.passage?.search),
    texts((row) => row.metadata)
  ])
}

const recordBatch = (
  schema: Schema,
  length: number,
  columns: ReadonlyArray<Data | undefined>
): RecordBatch => {
  const children = columns.map((column) => column as Data)
  return new RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length, nullCount: 0, children })
  )
}

export const toTable = (schema: Schema, length: number, columns: ReadonlyArray<Data | undefined>): Table =>
  new Table(schema, [recordBatch(schema, length, columns)])

/** A column of times, in milliseconds since 1970. */
export const times = (values: ReadonlyArray<number>) => vectorFromArray(values, new Float64()).data[0]

export const utf8 = (values: ReadonlyArray<string | null>): Data => {
  // Arrow's builder takes three times as long and makes twice the garbage.
  const valueOffsets = new Int32Array(values.length + 1)
  values.forEach((value, i) => {
    valueOffsets[i + 1] = valueOffsets[i]! + (value === null ? 0 : Buffer.byteLength(value))
  })
  const data = Buffer.allocUnsafeSlow(valueOffsets[values.length]!)
  values.forEach((value, i) => {
    if (value !== null) data.write(value, valueOffsets[i]!)
  })
  return makeData({ type: new Utf8(), length: values.length, ...nullsOf(values), valueOffsets, data })
}

/** Which values of a column are null or undefined. */
const nullsOf = (values: ReadonlyArray<unknown>) => {
  const nullBitmap = new Uint8Array(Math.ceil(values.length / 8))
  let nullCount = 0
  values.forEach((value, i) => {
    if (value === null || value === undefined) nullCount++
    else nullBitmap[i >> 3]! |= 1 << (i & 7)
  })
  return { nullCount, nullBitmap }
}

/** False for a zero vector: it has no cosine with anything. */
export const hasDirection = (vector: Float32Array): boolean => vector.some((value) => value !== 0)

/** A zero vector is stored as null, so that it is never found. */
const directed = (vector: Float32Array | undefined): Float32Array | undefined =>
  vector !== undefined && hasDirection(vector) ? vector : undefined

/** A column of vectors; undefined becomes null. */
export const vectors = (values: ReadonlyArray<Float32Array | undefined>, dimension: number): Data => {
  const data = new Float32Array(values.length * dimension)
  values.forEach((vector, i) => vector !== undefined && data.set(vector, i * dimension))
  const child = makeData({ type: new Float32(), length: data.length, data })
  return makeData({ type: vectorType(dimension), length: values.length, ...nullsOf(values), child })
}

const encodePassage = (
  id: string,
  { format, path, title }: Pick<DocumentInfo, "path" | "title" | "format">,
  { passage: { figure, lines, ...passage } }: IndexedPassage
): string =>
  JSON.stringify({
    document: { id, path, title, format },
    ...passage,
    figure,
    lines: lines.length === 0 ? undefined : lines.map(packLine)
  } satisfies PassageJson)

/** Parses a row; undefined if it is damaged: that costs its passage or document, and not the others. */
const parsed =
  <Row, A>(parse: (row: Row) => A | undefined) =>
  (row: Row): A | undefined => {
    try {
      return parse(row)
    } catch {
      return undefined
    }
  }

export const toPassage = parsed((json: string): StoredPassage | undefined => {
  const { figure, lines, ...passage } = JSON.parse(json) as PassageJson
  const { document, end, headings, ordinal, start, text } = passage
  const { format, id, path, title } = document
  const { caption, kind } = figure ?? { caption: "", kind: "figure" }
  const isText = [format, id, path, title, caption, kind].every((value) => typeof value === "string")
  if (!isText || !Array.isArray(headings) || !Number.isInteger(ordinal) || text.length !== end - start)
    return undefined
  return {
    id: `${id}#${ordinal}`,
    ...passage,
    lines: lines?.map(unpackLine) ?? [],
    ...(figure === undefined ? {} : { figure })
  }
})

/** A row that was found: its key, its distance or its BM25 score, and its vector if requested. */
export interface FoundRow<Key> {
  readonly key: Key
  readonly value: number
  readonly vector: Float32Array | undefined
}

/** Passages by their row addresses, and their vectors if the batches have them, as views of the batches' memory. */
export const takenRows = (batches: ReadonlyArray<RecordBatch>) =>
  new Map(
    batches.flatMap((batch) => {
      const passages = batch.getChild("passage")
      const vectorAt = vectorsOf(batch)
      return Array.from(addressesOf(batch), (address, i) => {
        const row: TakenRow = { json: passages?.get(i) ?? undefined, vector: vectorAt(i) }
        return [address, row] as const
      })
    })
  )

interface TakenRow {
  readonly json: string | undefined
  readonly vector: Float32Array | undefined
}

/** The vectors of a batch, as views of its memory. */
const vectorsOf = (batch: RecordBatch) => {
  const own = batch.getChild("vector")?.data[0]
  const dimension = own === undefined ? 0 : (own.type as FixedSizeList).listSize
  const numbers = own?.children[0]?.values as Float32Array | undefined
  return (i: number): Float32Array | undefined => {
    const at = ((own?.offset ?? 0) + i) * dimension
    return own?.getValid(i) === true ? numbers?.subarray(at, at + dimension) : undefined
  }
}

/** The passages, vectors and row addresses of a batch, as views of its memory. Every row has a passage. */
export const addressedRows = (batch: RecordBatch) => {
  const texts = batch.getChild("passage")!.data[0]!
  const [start = 0, ...ends] = texts.valueOffsets as Int32Array
  return {
    addresses: addressesOf(batch),
    json: (texts.values as Uint8Array).subarray(start, ends.at(-1) ?? start),
    /** Where each row's JSON ends. */
    jsonEnds: ends.map((end) => end - start),
    vectorAt: vectorsOf(batch)
  }
}

const addressesOf = (batch: RecordBatch): BigUint64Array =>
  batch.getChild("_rowid")!.toArray() as BigUint64Array

/** The row addresses that a search found, and the column `by`. */
export const foundAddresses = (
  batches: ReadonlyArray<RecordBatch>,
  by: "_distance" | "_score"
): ReadonlyArray<{ readonly address: bigint; readonly value: number }> =>
  batches.flatMap((batch) => {
    const values = batch.getChild(by)!.toArray() as Float32Array
    return Array.from(addressesOf(batch), (address, i) => ({ address, value: values[i]! }))
  })

const HASH = /^[0-9a-f]{64}$/

export const toStored = parsed(({ document, metadata }: DocumentRow): StoredDocument | undefined => {
  const { attachments, pictures, reading, source, version, ...known } = JSON.parse(
    metadata
  ) as DocumentMetadata
  const { bytes, format, passages, path, sha256, title } = known
  const isText = [format, path, title, source].every((value) => typeof value === "string")
  if (!isText || !HASH.test(sha256) || !Number.isInteger(bytes) || !Number.isInteger(passages))
    return undefined
  const info = { id: document, ...known }
  return { info, source, isComplete: true, reading, attachments, pictures, version }
})

/** SHA-256 of a document's files other than the original. */
export const attachmentsOf = (metadata: string): ReadonlyArray<string> =>
  (JSON.parse(metadata) as DocumentMetadata).attachments ?? []

const packLine = ({ box, end, page, start }: Line): PackedLine => [start, end, page, ...box]

const unpackLine = ([start, end, page, ...box]: PackedLine): Line => ({ start, end, page, box })
