/** Stores the parse of a document with its collection, so that it is not parsed, or paid, again. */
import { promisify } from "node:util"
import { gunzip, gzip } from "node:zlib"
import { Effect, Schema } from "effect"
import type { Block, Box, Figure, Line, Page, Parsed, ReadFault, Span } from "../document/Document.ts"
import { sha256 } from "../document/Hash.ts"
import { RagError } from "../document/RagError.ts"
import type { Collection } from "../store/PassageIndex.ts"

/** A schema for each key: a new field of the type without one is a type error. */
type Fields<A> = { readonly [K in keyof A]-?: Schema.Top }

const Span = { start: Schema.Int, end: Schema.Int } satisfies Fields<Span>
const Box = Schema.Tuple([Schema.Finite, Schema.Finite, Schema.Finite, Schema.Finite])

const Block = {
  ...Span,
  kind: Schema.Literals(["heading", "paragraph", "list", "table", "code", "figure"]),
  level: Schema.optionalKey(Schema.Int),
  heading: Schema.optionalKey(Schema.String)
} satisfies Fields<Block>

const Page = {
  ...Span,
  number: Schema.Int,
  width: Schema.Finite,
  height: Schema.Finite
} satisfies Fields<Page>

const Figure = {
  ...Span,
  kind: Schema.Literals(["figure", "table"]),
  number: Schema.optionalKey(Schema.String),
  caption: Schema.optionalKey(Schema.Struct(Span)),
  alternative: Schema.optionalKey(Schema.String),
  page: Schema.optionalKey(Schema.Int),
  box: Schema.optionalKey(Box),
  rows: Schema.optionalKey(Schema.Array(Schema.Array(Schema.String))),
  mentions: Schema.Array(Schema.Struct(Span)),
  /** SHA-256 of its bytes, which are stored separately. */
  crop: Schema.optionalKey(Schema.String)
} satisfies Fields<Figure>

const Fault = {
  page: Schema.optionalKey(Schema.Int),
  message: Schema.String
} satisfies Fields<ReadFault>

/** `start, end, page, x0, y0, x1, y1`: half the size of an object. A long document has 100,000 lines. */
type PackedLine = readonly [number, number, number, ...Box]

const isPackedLines = (value: unknown): value is ReadonlyArray<PackedLine> =>
  Array.isArray(value) &&
  value.every((line) => Array.isArray(line) && line.length === 7 && line.every(Number.isFinite))

const StoredParse = Schema.fromJsonString(
  Schema.Struct({
    format: Schema.String,
    title: Schema.String,
    about: Schema.optionalKey(Schema.String),
    text: Schema.String,
    blocks: Schema.Array(Schema.Struct(Block)),
    pages: Schema.Array(Schema.Struct(Page)),
    lines: Schema.declare(isPackedLines, { toCodecJson: () => undefined }),
    figures: Schema.Array(Schema.Struct(Figure)),
    faults: Schema.Array(Schema.Struct(Fault))
  } satisfies Fields<Parsed>)
)

/** Encodes as JSON with the hashes of the crops, compressed by gzip. */
export const encodeParsed = (parsed: Parsed): Effect.Effect<Uint8Array> => {
  const lines = parsed.lines.map(({ box, end, page, start }): PackedLine => [start, end, page, ...box])
  const figures = parsed.figures.map(({ crop, ...figure }) => ({ ...figure, crop: crop && sha256(crop) }))
  return Effect.promise(() => promisify(gzip)(JSON.stringify({ ...parsed, lines, figures })))
}

/**
 * Decodes a parse. `readCrop` returns the bytes of a crop by their SHA-256; by default figures have none. Fails with
 * `Store` if the bytes are damaged.
 */
export const decodeParsed = Effect.fn("ParsedCodec.decode")(function* (
  bytes: Uint8Array,
  document: string,
  readCrop: Collection["original"] = () => Effect.succeed(undefined)
) {
  const damaged = (cause: unknown) => {
    const message = `The stored parse of ${document} is damaged. Remove the document, and ingest its file again.`
    return new RagError({ stage: "store", reason: "Store", message, document, cause })
  }
  const json = yield* Effect.tryPromise({ try: () => promisify(gunzip)(bytes), catch: damaged })
  const stored = yield* Schema.decodeEffect(StoredParse)(json.toString("utf8")).pipe(Effect.mapError(damaged))
  const lines = stored.lines.map(([start, end, page, ...box]): Line => ({ start, end, page, box }))
  const figures = yield* Effect.forEach(
    stored.figures,
    Effect.fnUntraced(function* ({ crop: hash, ...figure }): Effect.fn.Return<Figure, RagError> {
      const crop = hash === undefined ? undefined : yield* readCrop(hash)
      return crop === undefined ? figure : { ...figure, crop }
    })
  )
  const parsed: Parsed = { ...stored, lines, figures }
  return parsed
})
