/** Documents and passages as rows of Arrow, and back. */
import {
  type Data,
  Float32,
  Int32,
  makeData,
  RecordBatch,
  type Schema,
  Struct,
  Table,
  Utf8,
  vectorFromArray
} from "apache-arrow"
import type { DocumentInfo, Format, Line, PassageFigure, StoredPassage } from "../Document.ts"
import type { IndexedDocument, IndexedPassage, StoredDocument } from "../PassageIndex.ts"
import { passagesSchema, vectorType } from "./LanceTables.ts"

/** What the row of a document carries besides its identifier. */
interface DocumentMetadata extends Omit<DocumentInfo, "id"> {
  readonly source: string
  readonly reading?: string | undefined
  /** SHA-256 of the files that belong to it besides its original. */
  readonly attachments?: ReadonlyArray<string> | undefined
}

/** What each passage repeats of its document, so that recall needs no second query. */
type PassageMetadata = Omit<StoredPassage["document"], "id">

/** The columns that a passage is made from. */
export const PASSAGE_COLUMNS = [
  "id",
  "document",
  "ordinal",
  "text",
  "page",
  "start",
  "end",
  "boxes",
  "headings",
  "metadata",
  "figure"
]

/** The row that stands for the document itself. */
export const documentRowId = (document: string): string => `${document}#`

interface Row {
  readonly id: string
  readonly document: string
  readonly kind: "document" | "passage" | "figure" | "table" | "gone"
  readonly ordinal: number | null
  readonly hash: string | null
  readonly passage: IndexedPassage | undefined
  readonly metadata: string | null
}

/** The row of a document itself. */
export const documentRow = (
  { id, ...known }: DocumentInfo,
  { attachments, reading, source }: Pick<DocumentMetadata, "source" | "reading" | "attachments">
): Row => ({
  id: documentRowId(id),
  document: id,
  kind: "document",
  ordinal: null,
  hash: known.sha256,
  passage: undefined,
  metadata: JSON.stringify({ ...known, source, reading, attachments } satisfies DocumentMetadata)
})

/** All rows of the documents: one for each document, one for each passage; `gone` ones for those it has no more. */
export const rowsOf = (
  documents: ReadonlyArray<IndexedDocument>,
  options: { readonly gone: boolean }
): ReadonlyArray<Row> =>
  documents.flatMap(({ attachments, info, passages, reading, replaces, source }) => {
    const document = info.id
    const metadata: PassageMetadata = { path: info.path, title: info.title, format: info.format }
    const repeated = JSON.stringify(metadata)
    const rows: Array<Row> = [documentRow(info, { source, reading, attachments: [...attachments.keys()] })]
    for (const passage of passages) {
      const { ordinal } = passage.passage
      const id = `${document}#${ordinal}`
      const kind = passage.passage.figure?.kind ?? "passage"
      rows.push({ id, document, kind, ordinal, hash: passage.hash, passage, metadata: repeated })
    }
    if (options.gone) {
      for (let ordinal = passages.length; ordinal < (replaces?.info.passages ?? 0); ordinal++) {
        const id = `${document}#${ordinal}`
        rows.push({ id, document, kind: "gone", ordinal, hash: null, passage: undefined, metadata: null })
      }
    }
    return rows
  })

/** The rows as one Arrow table. Vectors are copied once, into one block. */
export const toArrow = (rows: ReadonlyArray<Row>, dimension: number): Table => {
  const texts = (value: (row: Row) => string | null) => utf8(rows.map(value))
  const integers = (value: (row: Row) => number | undefined | null) =>
    vectorFromArray(
      rows.map((row) => value(row) ?? null),
      new Int32()
    ).data[0]
  return toTable(passagesSchema(dimension), rows.length, [
    texts((row) => row.id),
    texts((row) => row.document),
    texts((row) => row.kind),
    integers((row) => row.ordinal),
    texts((row) => row.hash),
    texts((row) => row.passage?.passage.text ?? null),
    vectors(
      rows.map((row) => row.passage?.vector),
      dimension
    ),
    integers((row) => row.passage?.passage.page),
    integers((row) => row.passage?.passage.start),
    integers((row) => row.passage?.passage.end),
    texts((row) =>
      row.passage && row.passage.passage.lines.length > 0 ? packLines(row.passage.passage.lines) : null
    ),
    texts((row) => (row.passage ? JSON.stringify(row.passage.passage.headings) : null)),
    texts((row) => row.passage?.passage.figure?.crop ?? null),
    texts((row) => row.metadata),
    texts((row) => row.passage?.search ?? null),
    texts((row) => (row.passage?.passage.figure ? JSON.stringify(row.passage.passage.figure) : null))
  ])
}

/** Columns of equal length as a table with that schema. */
export const toTable = (schema: Schema, length: number, columns: ReadonlyArray<Data | undefined>): Table => {
  const children = columns.map((column) => column as Data)
  return new Table(schema, [
    new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length, nullCount: 0, children }))
  ])
}

/** A column of texts. */
export const utf8 = (values: ReadonlyArray<string | null>) => vectorFromArray(values, new Utf8()).data[0]

/** A column of vectors; undefined ones are null. */
export const vectors = (values: ReadonlyArray<Float32Array | undefined>, dimension: number): Data => {
  const flat = new Float32Array(values.length * dimension)
  const valid = new Uint8Array(Math.ceil(values.length / 8))
  let nulls = 0
  values.forEach((vector, i) => {
    if (vector === undefined) {
      nulls++
    } else {
      flat.set(vector, i * dimension)
      valid[i >> 3] = (valid[i >> 3] ?? 0) | (1 << (i & 7))
    }
  })
  return makeData({
    type: vectorType(dimension),
    length: values.length,
    nullCount: nulls,
    nullBitmap: valid,
    child: makeData({ type: new Float32(), length: flat.length, data: flat })
  })
}

/** A row of `PASSAGE_COLUMNS` as a passage. */
export const toPassage = (row: Record<string, unknown>): StoredPassage => {
  const metadata = JSON.parse(row["metadata"] as string) as PassageMetadata
  const page = row["page"] as number | null
  const boxes = row["boxes"] as string | null
  const figure = row["figure"] as string | null
  return {
    id: row["id"] as string,
    document: { id: row["document"] as string, ...metadata },
    ordinal: row["ordinal"] as number,
    text: row["text"] as string,
    start: row["start"] as number,
    end: row["end"] as number,
    headings: JSON.parse(row["headings"] as string) as ReadonlyArray<string>,
    lines: boxes === null ? [] : unpackLines(boxes),
    ...(page === null ? {} : { page }),
    ...(figure === null ? {} : { figure: JSON.parse(figure) as PassageFigure })
  }
}

/** The row of a document (`document` and `metadata`) as what a writer needs to know of it. */
export const toStored = (row: Record<string, unknown>, whole: boolean): StoredDocument => {
  const { attachments, reading, source, ...known } = JSON.parse(row["metadata"] as string) as DocumentMetadata
  return {
    info: { id: row["document"] as string, ...known, format: known.format satisfies Format },
    source,
    whole,
    reading,
    attachments
  }
}

/** The files that the row of a document names besides the original. */
export const attachmentsOf = (metadata: string): ReadonlyArray<string> =>
  (JSON.parse(metadata) as DocumentMetadata).attachments ?? []

/** Lines as arrays of numbers: half the size of objects. */
const packLines = (lines: ReadonlyArray<Line>): string =>
  JSON.stringify(lines.map(({ start, end, page, box }) => [start, end, page, ...box]))

const unpackLines = (json: string): ReadonlyArray<Line> =>
  (JSON.parse(json) as ReadonlyArray<readonly [number, number, number, number, number, number, number]>).map(
    ([start, end, page, ...box]) => ({ start, end, page, box })
  )
