/** Decodes the parse that is stored with a document, so that it is not parsed, or paid, again. `encodeParsed` writes it. */
import { promisify } from "node:util"
import { gunzip } from "node:zlib"
import { Effect, Schema } from "effect"
import {
  Block,
  type Box,
  Figure,
  type Line,
  Page,
  type Parsed,
  PassageSpan,
  ReadFault
} from "../document/Document.ts"
import { Locator } from "../document/Locator.ts"
import { RagError } from "../document/RagError.ts"
import type { Collection } from "../store/PassageIndex.ts"

/** `start, end, page, x0, y0, x1, y1`: half the size of an object. A long document has 100,000 lines. */
type PackedLine = readonly [number, number, number, ...Box]

const isPackedLines = (value: unknown): value is ReadonlyArray<PackedLine> =>
  Array.isArray(value) &&
  value.every((line) => Array.isArray(line) && line.length === 7 && line.every(Number.isFinite))

/** A schema for each key: a new field of `Parsed` without one is a type error. */
const StoredParse = Schema.fromJsonString(
  Schema.Struct({
    format: Schema.String,
    title: Schema.String,
    about: Schema.optionalKey(Schema.String),
    text: Schema.String,
    blocks: Schema.Array(Block),
    pages: Schema.Array(Page),
    lines: Schema.declare(isPackedLines, { toCodecJson: () => undefined }),
    locators: Schema.optionalKey(Schema.Array(Locator)),
    /** `crop` is the SHA-256 of its bytes, which are stored separately. */
    figures: Schema.Array(Schema.Struct({ ...Figure.fields, crop: Schema.optionalKey(Schema.String) })),
    faults: Schema.Array(ReadFault),
    passages: Schema.optionalKey(Schema.Array(PassageSpan))
  } satisfies { readonly [K in keyof Parsed]-?: Schema.Top })
)

/**
 * Decodes a parse. `readCrop` returns the bytes of a crop by their SHA-256; by default figures have none. Fails with
 * `Damaged` if the bytes are damaged.
 */
export const decodeParsed = Effect.fn("ParsedCodec.decode")(function* (
  bytes: Uint8Array,
  document: string,
  readCrop: Collection["original"] = () => Effect.succeed(undefined)
) {
  const damaged = (cause: unknown) => {
    const message = `The stored parse of ${document} is damaged. Remove the document, and ingest its file again.`
    return new RagError({ stage: "store", reason: "Damaged", message, document, cause })
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
