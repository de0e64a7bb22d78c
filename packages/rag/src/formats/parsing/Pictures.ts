/** Loads the pictures of a document, and reads the text in them. */
import { decodeBase64 } from "@sluice/core/contract"
import { parseDataUri } from "@sluice/core/media"
import { Effect } from "effect"
import { type Figure, firstFaults, type Parsed, type ReadFault, type Span } from "../../document/Document.ts"
import type { ParsedDraft } from "./Captions.ts"
import { type ImageHeader, imageHeaderOf } from "./ImageHeader.ts"
import { textRecognizer } from "./TextRecognizer.ts"

/** Pictures loaded of one document, and their bytes together. */
export const MAX_LOADED_PICTURES = 500
const MAX_BYTES = 128 * 1024 * 1024
/** Pictures of one document in which text is recognized: each takes about a second. */
export const MAX_RECOGNIZED_PICTURES = 100
/** Pixels: smaller pictures have no text. */
const MIN_SIDE = 24
/** Characters kept of the text in one picture. */
const MAX_CHARACTERS = 20_000
/** Faults that are reported individually. */
const MAX_FAULTS = 20

/**
 * Reads a picture beside a document by its reference, a path. `undefined` if there is no such file; a string says why it
 * may not be read.
 */
export type PictureFile = (reference: string) => Effect.Effect<Uint8Array | string | undefined>

interface Picture {
  readonly bytes: Uint8Array
  readonly header: ImageHeader
}

/** Why a picture is not loaded. Shared reasons complete "3 pictures are …". */
interface NotLoaded {
  readonly why: string
  readonly isShared: boolean
}

const shared = (why: string): NotLoaded => ({ why, isShared: true })
const REMOTE = shared("on the network, which is not accessed")
const MISSING = shared("in files that were not given")
const TOO_MANY = shared(`left out: the limit is ${MAX_LOADED_PICTURES} for a document`)
const TOO_LARGE = shared(`left out: the limit for a document is ${MAX_BYTES / 1048576} MB`)

/** Loads a picture from a data URI or a file. The network is never accessed. */
const loadPicture = Effect.fnUntraced(function* (
  reference: string,
  name: string,
  file: PictureFile | undefined
) {
  let bytes: Uint8Array | string | undefined
  if (/^data:/i.test(reference)) {
    const parts = parseDataUri(reference)
    bytes = (parts && decodeBase64(parts.base64.replace(/\s+/g, ""))) ?? "is a data URI that is not in Base64"
  } else {
    if (/^(?:https?:|ftp:|\/\/|\\\\)/i.test(reference)) return REMOTE
    if (file === undefined || /^[a-z][a-z0-9+.-]+:/i.test(reference)) return MISSING
    bytes = yield* file(reference)
    if (bytes === undefined) return MISSING
  }
  if (typeof bytes === "string") return { why: `${name} ${bytes}`, isShared: false } satisfies NotLoaded
  const header = imageHeaderOf(bytes, name)
  const loaded: Picture | NotLoaded =
    "reason" in header ? { why: header.message, isShared: false } : { bytes, header }
  return loaded
})

/** The name of a picture in messages. `n` counts from 1. */
const nameOf = (reference: string, n: number): string =>
  reference === "" || /^data:/i.test(reference)
    ? `picture ${n}`
    : `picture ${n} (${reference.length > 80 ? `…${reference.slice(-80)}` : reference})`

/** Returns a function that reads the text in a picture, until the limits are reached. Failures are added to `faults`. */
const pictureReader = Effect.fnUntraced(function* (faults: Array<ReadFault>) {
  const recognizer = yield* textRecognizer
  let count = 0
  return Effect.fnUntraced(function* ({ bytes, header }: Picture, name: string) {
    if (recognizer === undefined || Math.min(header.width, header.height) < MIN_SIDE) return ""
    if (recognizer.hasGivenUp() || count >= MAX_RECOGNIZED_PICTURES) return ""
    count++
    const lines = yield* recognizer.recognize(Effect.succeed(bytes)).pipe(
      Effect.catch((error) => {
        faults.push({ message: `${name} was not read: ${error.message}` })
        return Effect.succeed([])
      })
    )
    const text = lines.map((line) => line.text.trim()).join("\n")
    return text.slice(0, MAX_CHARACTERS).toWellFormed()
  })
})

const areaOf = ({ header }: Picture): number => header.width * header.height

interface Insertion {
  /** The end of a figure. */
  readonly at: number
  readonly text: string
}

/** Inserts texts at the ends of figures. Figures and blocks that end at an insertion include it. What follows moves. */
const insertTexts = (parsed: Parsed, insertions: ReadonlyArray<Insertion>): Parsed => {
  if (insertions.length === 0) return parsed
  /** The new offset. Insertions at `offset` are before it if `isAfter`. */
  const moved = (offset: number, isAfter: boolean): number =>
    insertions.reduce(
      (sum, { at, text }) => (at < offset || (isAfter && at === offset) ? sum + text.length : sum),
      offset
    )
  const move = <A extends Span>(span: A, includesEnd: boolean): A => ({
    ...span,
    start: moved(span.start, true),
    end: moved(span.end, includesEnd)
  })
  let text = ""
  let from = 0
  for (const { at, text: own } of insertions.toSorted((a, b) => a.at - b.at)) {
    text += parsed.text.slice(from, at) + own
    from = at
  }
  const figures = parsed.figures.map((figure): Figure => {
    const { caption, mentions } = figure
    return {
      ...move(figure, true),
      mentions: mentions.map((span) => move(span, false)),
      ...(caption === undefined ? {} : { caption: move(caption, false) })
    }
  })
  const blocks = parsed.blocks.map((block) => move(block, true))
  return { ...parsed, text: text + parsed.text.slice(from), blocks, figures }
}

/**
 * Adds the images of a document's figures. If `Vision` has `read`, the text in an image is added at the end of its figure.
 *
 * **Details.** A picture that cannot be loaded or read is a fault, and its figure keeps the caption.
 */
export const loadPictures = Effect.fn("parse.pictures")(function* (
  { pictures = [], ...parsed }: Parsed & Partial<ParsedDraft>,
  file?: PictureFile
) {
  if (pictures.length === 0) return parsed
  const faults: Array<ReadFault> = []
  const readText = yield* pictureReader(faults)
  const loaded = new Map<string, (Picture & { readonly text: string }) | NotLoaded>()
  const counts = new Map<string, number>()
  /** By figure. Of several pictures the largest is its image. */
  const crops = new Map<number, Picture>()
  const insertions: Array<Insertion> = []
  let bytes = 0

  const load = Effect.fnUntraced(function* (reference: string, name: string) {
    if (loaded.size >= MAX_LOADED_PICTURES) return TOO_MANY
    if (bytes > MAX_BYTES) return TOO_LARGE
    const picture = yield* loadPicture(reference, name, file)
    if ("why" in picture) return picture
    bytes += picture.bytes.length
    return { ...picture, text: yield* readText(picture, name) }
  })

  for (const [at, { figure, reference }] of pictures.entries()) {
    if (reference === "") continue
    const known = loaded.get(reference)
    const picture = known ?? (yield* load(reference, nameOf(reference, at + 1)))
    loaded.set(reference, picture)
    if ("why" in picture) {
      const { isShared, why } = picture
      if (isShared) counts.set(why, (counts.get(why) ?? 0) + 1)
      else if (known === undefined) {
        const advice =
          "Its caption is kept. To include it, save it as a PNG of ordinary size and ingest again."
        faults.push({ message: `${why}. ${advice}` })
      }
      continue
    }
    const crop = crops.get(figure)
    if (crop === undefined || areaOf(crop) < areaOf(picture)) crops.set(figure, picture)
    const text = `\n${picture.text}`
    if (picture.text !== "") insertions.push({ at: parsed.figures[figure]!.end, text })
  }
  for (const [why, count] of counts)
    faults.push({ message: `${count} ${count === 1 ? "picture is" : "pictures are"} ${why}.` })
  const first = firstFaults(faults, MAX_FAULTS, "faults of pictures are not listed")
  const figures = parsed.figures.map((figure, at) => {
    const crop = crops.get(at)
    return crop === undefined ? figure : { ...figure, crop: crop.bytes }
  })
  return insertTexts({ ...parsed, figures, faults: [...parsed.faults, ...first] }, insertions)
})
