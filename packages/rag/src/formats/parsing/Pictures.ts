/** The pictures of a document: their bytes, and what is written in them. */
import { decodeBase64 } from "@sluice/core/contract"
import { parseDataUri } from "@sluice/core/media"
import { Vision } from "@sluice/core"
import { Effect, Option } from "effect"
import type { Figure, Parsed, ReadFault } from "../../document/Document.ts"
import type { Unillustrated } from "./Captions.ts"
import { type ImageHeader, imageHeaderOf } from "./ImageHeader.ts"
import { type Insertion, insertTexts } from "./Insertion.ts"

/** Pictures of one document whose bytes are looked at, at most, and their bytes together. */
export const PICTURES_AT_MOST = 500
const BYTES_AT_MOST = 128 * 1024 * 1024
/** Pictures of one document that are read, at most: each takes about a second. */
export const PICTURES_READ_AT_MOST = 100
/** Nothing is written in a smaller picture. */
const READABLE_PIXELS = 24
/** Characters of what is written in one picture, at most. */
const WRITING_AT_MOST = 20_000
/** A model that failed so often in a row is asked no more. */
const FAILURES_AT_MOST = 2
/** Faults that are told one by one. */
const FAULTS_AT_MOST = 20

/**
 * Gives the bytes of a picture by the reference that its document has, a path beside it; `undefined` where there is no
 * such file, a sentence where there is one that may not be read.
 */
export type PictureFile = (reference: string) => Effect.Effect<Uint8Array | string | undefined>

interface Picture {
  readonly bytes: Uint8Array
  readonly header: ImageHeader
}

const areaOf = ({ header }: Picture): number => header.width * header.height

/** A picture's bytes, or why it has none. `quiet` reasons are told once for all pictures. */
type Fetched = { readonly picture: Picture } | { readonly why: string; readonly quiet: boolean }

const REMOTE = "elsewhere on the network, where nothing is fetched from"
const MISSING = "in files that were not given with it"

const fromDataUri = (reference: string): Uint8Array | undefined => {
  const parts = parseDataUri(reference)
  return parts && decodeBase64(parts.base64.replace(/\s+/g, ""))
}

/** The bytes that a document holds or that lie beside it. Nothing is ever fetched from the network. */
const fetchPicture = Effect.fnUntraced(function* (
  reference: string,
  what: string,
  file: PictureFile | undefined
) {
  const isData = /^data:/i.test(reference)
  if (!isData && /^(?:https?:|ftp:|\/\/|\\\\)/i.test(reference))
    return { why: REMOTE, quiet: true } satisfies Fetched
  if (!isData && /^[a-z][a-z0-9+.-]+:/i.test(reference))
    return { why: MISSING, quiet: true } satisfies Fetched
  const bytes = isData ? fromDataUri(reference) : file === undefined ? undefined : yield* file(reference)
  if (typeof bytes === "string") return { why: `${what} ${bytes}`, quiet: false } satisfies Fetched
  if (bytes === undefined) {
    const fetched: Fetched = isData
      ? { why: `${what} is a data URI that is not in Base64`, quiet: false }
      : { why: MISSING, quiet: true }
    return fetched
  }
  const header = imageHeaderOf(bytes, what)
  const fetched: Fetched =
    "reason" in header ? { why: header.message, quiet: false } : { picture: { bytes, header } }
  return fetched
})

/** Whether a recognized line says something: strokes of a drawing are recognized as dashes and dots. */
export const isReadable = (line: string): boolean => /[\p{L}\p{N}]/u.test(line)

/** How a picture is named in messages. */
const nameOf = (reference: string, n: number): string =>
  reference === "" || /^data:/i.test(reference)
    ? `picture ${n}`
    : `picture ${n} (${reference.length > 80 ? `…${reference.slice(-80)}` : reference})`

/**
 * A document with the images of its figures, and with what is written in them where image understanding is offered: it
 * stands at the end of its figure.
 *
 * **Details.** A picture that cannot be had or read is a fault and costs nothing else. Pictures above
 * `PICTURES_AT_MOST`, and those on the network, keep their captions alone.
 */
export const illustrate = Effect.fn("parse.pictures")(function* (
  { pictures = [], ...parsed }: Parsed & Partial<Unillustrated>,
  file?: PictureFile
) {
  if (pictures.length === 0) return parsed
  const vision = Option.getOrUndefined(yield* Effect.serviceOption(Vision))
  /** Of several pictures of one figure the largest. */
  const crops = new Map<number, Picture>()
  const insertions: Array<Insertion> = []
  const faults: Array<ReadFault> = []
  const quiet = new Map<string, number>()
  const known = new Map<string, Fetched>()
  const written = new Map<string, string>()
  let bytes = 0
  let readings = 0
  let failures = 0

  for (const [at, { figure, reference }] of pictures.entries()) {
    if (reference === "") continue
    if (known.size >= PICTURES_AT_MOST && !known.has(reference)) {
      const why = `left without their images: a document has ${PICTURES_AT_MOST} at most`
      quiet.set(why, (quiet.get(why) ?? 0) + 1)
      continue
    }
    const what = nameOf(reference, at + 1)
    const fetched: Fetched =
      bytes > BYTES_AT_MOST
        ? {
            why: `left without their images: those of a document have ${BYTES_AT_MOST / 1048576} MB together at most`,
            quiet: true
          }
        : (known.get(reference) ?? (yield* fetchPicture(reference, what, file)))
    const isNew = !known.has(reference)
    known.set(reference, fetched)
    if (!("picture" in fetched)) {
      if (fetched.quiet) quiet.set(fetched.why, (quiet.get(fetched.why) ?? 0) + 1)
      else if (isNew)
        faults.push({
          message: `${fetched.why}. Its caption is kept; to have the picture too, save it as a PNG of usual size and ingest again.`
        })
      continue
    }
    const { header } = fetched.picture
    if (isNew) bytes += fetched.picture.bytes.length
    const crop = crops.get(figure)
    if (crop === undefined || areaOf(crop) < areaOf(fetched.picture)) crops.set(figure, fetched.picture)
    if (
      isNew &&
      vision?.read !== undefined &&
      failures < FAILURES_AT_MOST &&
      readings < PICTURES_READ_AT_MOST
    ) {
      if (Math.min(header.width, header.height) < READABLE_PIXELS) continue
      readings++
      const lines = yield* vision.read(fetched.picture.bytes).pipe(
        Effect.tap(() => Effect.sync(() => (failures = 0))),
        Effect.catch((error) => {
          if (error.reason._tag !== "InvalidRequest") failures++
          faults.push({ message: `${what} was not read: ${error.message}` })
          return Effect.succeed([])
        })
      )
      const text = lines
        .map(({ text }) => text.trim())
        .filter(isReadable)
        .join("\n")
        .slice(0, WRITING_AT_MOST)
      written.set(reference, text.toWellFormed())
    }
    const text = written.get(reference) ?? ""
    if (text !== "") insertions.push({ at: (parsed.figures[figure] as Figure).end, text: `\n${text}` })
  }

  for (const [why, count] of quiet)
    faults.push({ message: `${count} ${count === 1 ? "picture is" : "pictures are"} ${why}.` })
  const told =
    faults.length <= FAULTS_AT_MOST
      ? faults
      : [
          ...faults.slice(0, FAULTS_AT_MOST),
          { message: `${faults.length - FAULTS_AT_MOST} more faults of pictures are left out here.` }
        ]
  const figures = parsed.figures.map((figure, at) => {
    const crop = crops.get(at)
    return crop === undefined ? figure : { ...figure, crop: crop.bytes }
  })
  return insertTexts({ ...parsed, figures, faults: [...parsed.faults, ...told] }, insertions)
})
