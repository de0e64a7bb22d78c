/** A document as its parser read it, kept with the collection: what was read once is not read, or paid, again. */
import { promisify } from "node:util"
import { gunzip, gzip } from "node:zlib"
import { Effect, Schema } from "effect"
import type { Block, Box, Figure, Line, Page, Parsed, ReadFault, Span } from "../document/Document.ts"
import { sha256 } from "../embedding/PassageEmbedder.ts"
import { RagError } from "../document/RagError.ts"

/** A schema for each key, so that a field which joins the type is not forgotten here. */
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
  /** SHA-256 of its bytes, which are stored by themselves. */
  crop: Schema.optionalKey(Schema.String)
} satisfies Fields<Figure>

const Fault = {
  page: Schema.optionalKey(Schema.Int),
  message: Schema.String
} satisfies Fields<ReadFault>

/** `start, end, page, x0, y0, x1, y1`: half the size of objects, and a long document has a hundred thousand. */
type PackedLine = readonly [number, number, number, ...Box]

const isPackedLines = (value: unknown): value is ReadonlyArray<PackedLine> =>
  Array.isArray(value) &&
  value.every((line) => Array.isArray(line) && line.length === 7 && line.every(Number.isFinite))

const StoredReading = Schema.fromJsonString(
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

/** The bytes that are stored: JSON with the hashes of the crops, compressed. */
export const encodeReading = (parsed: Parsed): Effect.Effect<Uint8Array> => {
  const lines = parsed.lines.map(({ box, end, page, start }): PackedLine => [start, end, page, ...box])
  const figures = parsed.figures.map(({ crop, ...figure }) => ({ ...figure, crop: crop && sha256(crop) }))
  return Effect.promise(() => promisify(gzip)(JSON.stringify({ ...parsed, lines, figures })))
}

/** Gives the bytes of a crop by their SHA-256; undefined leaves the figure without. */
export type CropOf = (sha256: string) => Effect.Effect<Uint8Array | undefined, RagError>

/**
 * The reading that was stored; without the crops, unless `cropOf` gives them. Fails with `Store` when the bytes are not
 * what was written.
 */
export const decodeReading = Effect.fn("StoredReading.decode")(function* (
  bytes: Uint8Array,
  document: string,
  cropOf: CropOf = () => Effect.succeed(undefined)
) {
  const damaged = (cause: unknown) =>
    new RagError({
      stage: "store",
      reason: "Store",
      message: `The stored reading of ${document} is damaged. Remove the document and ingest its file again.`,
      document,
      cause
    })
  const json = yield* Effect.tryPromise({ try: () => promisify(gunzip)(bytes), catch: damaged })
  const stored = yield* Schema.decodeEffect(StoredReading)(json.toString("utf8")).pipe(
    Effect.mapError(damaged)
  )
  const lines = stored.lines.map(([start, end, page, ...box]): Line => ({ start, end, page, box }))
  const figures = yield* Effect.forEach(
    stored.figures,
    Effect.fnUntraced(function* ({ crop: hash, ...figure }): Effect.fn.Return<Figure, RagError> {
      const crop = hash === undefined ? undefined : yield* cropOf(hash)
      return crop === undefined ? figure : { ...figure, crop }
    })
  )
  const parsed: Parsed = { ...stored, lines, figures }
  return parsed
})
