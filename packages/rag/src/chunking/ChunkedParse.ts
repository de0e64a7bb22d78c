/** A parsed file cut into passages: what is stored of its text. Pure, so that it can run in a thread of the pool. */
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import type { WorkerContext, WorkerOutput } from "@sluice/core/workers"
import type { Parsed, Passage, ReadFault } from "../document/Document.ts"
import { sha256 } from "../document/Hash.ts"
import { inPortions, passageWeight } from "../document/Portions.ts"
import { embeddedText, mentionsOf } from "../document/SearchText.ts"
import { chunkUnits } from "./Chunker.ts"

/** Passages of a file, of a MiB of its text, and of less text. Prose has 1,000 a MiB, lists of short sections 5,000. */
const PASSAGES = { file: 80_000, mebibyte: 10_000, least: 1_000 }

/** A passage, the text that is embedded for it, and the SHA-256 of this text. */
export interface ChunkedPassage {
  readonly passage: Passage
  readonly text: string
  readonly hash: string
}

export interface ChunkedParse {
  readonly title: string
  readonly format: string
  readonly pages: number
  /** Figures and tables among the passages. */
  readonly figures: number
  readonly faults: ReadonlyArray<ReadFault>
  readonly passages: ReadonlyArray<ChunkedPassage>
  /** By SHA-256: crops of figures, and the stored parse. */
  readonly attachments: Map<string, Uint8Array>
  /** The SHA-256 of the stored parse, if it is stored. */
  readonly reading: string | undefined
}

/** A file exceeds a limit. The message completes "the file …". */
export interface BeyondLimit {
  readonly beyond: string
}

/** The passage with the text that is embedded for it. */
export const withText = (title: string, passage: Passage): ChunkedPassage => {
  const text = embeddedText(title, passage)
  return { passage, text, hash: sha256(text) }
}

/** When to store the parse itself, because repeating it would cost: always, with figures, or only with crops. */
export type StoresParse = "always" | "figures" | "crops"

const isStored = (stores: StoresParse, { figures }: Parsed): boolean =>
  stores === "always" ||
  (stores === "figures" && figures.length > 0) ||
  figures.some(({ crop }) => crop !== undefined)

export const chunkParse = async (
  parsed: Parsed,
  stores: StoresParse
): Promise<ChunkedParse | BeyondLimit> => {
  const chunks = chunkUnits(parsed)
  const limit = Math.max(PASSAGES.least, Math.floor((parsed.text.length / 1048576) * PASSAGES.mebibyte))
  const most = Math.min(PASSAGES.file, limit)
  if (chunks.length > most) {
    const advice = "Join its short sections and pictures, or split it."
    return {
      beyond: `has ${chunks.length} passages; the limit for a text of its length is ${most}. ${advice}`
    }
  }
  const attachments = new Map<string, Uint8Array>()
  const cropOf = new Map<Uint8Array, string>()
  for (const { crop } of parsed.figures) {
    if (crop !== undefined && !cropOf.has(crop)) cropOf.set(crop, sha256(crop))
  }
  const passages = chunks.map(({ figure, passage }) => {
    if (passage.figure === undefined || figure === undefined) return withText(parsed.title, passage)
    const crop = figure.crop && cropOf.get(figure.crop)
    if (crop !== undefined) attachments.set(crop, figure.crop!)
    const said = mentionsOf(parsed, figure)
    return withText(parsed.title, {
      ...passage,
      figure: { ...passage.figure, ...(crop !== undefined && { crop }), ...(said !== "" && { said }) }
    })
  })
  let reading: string | undefined
  if (isStored(stores, parsed)) {
    const encoded = await encodeParsed(parsed, (crop) => cropOf.get(crop)!)
    attachments.set((reading = sha256(encoded)), encoded)
  }
  return {
    title: parsed.title,
    format: parsed.format,
    pages: parsed.pages.length,
    figures: new Set(chunks.flatMap(({ figure }) => figure ?? [])).size,
    faults: parsed.faults,
    passages,
    attachments,
    reading
  }
}

/** The passages of a message between threads weigh this: the one that answers takes up to 20 ms to read them. */
const PORTION = 500

/** Passages that a thread sends before its result. */
export interface PassagePortion {
  readonly passages: ReadonlyArray<ChunkedPassage>
}

/** `chunkParse` in a thread of the pool. It returns no passages: it sends them in portions. */
export const chunkInPortions = async (
  parsed: Parsed,
  stores: StoresParse,
  ask: WorkerContext["ask"]
): Promise<ChunkedParse | BeyondLimit> => {
  const chunked = await chunkParse(parsed, stores)
  if ("beyond" in chunked) return chunked
  for (const passages of inPortions(chunked.passages, PORTION, ({ passage }) => passageWeight(passage)))
    await ask({ passages } satisfies PassagePortion)
  return { ...chunked, passages: [] }
}

/** The job of a thread of the pool. */
export const chunkInThread = async (
  { parsed, stores }: { readonly parsed: Parsed; readonly stores: StoresParse },
  { ask }: WorkerContext
): Promise<WorkerOutput<ChunkedParse | BeyondLimit>> => ({
  value: await chunkInPortions(parsed, stores, ask)
})

/** Encodes a parse as JSON with the hashes of the crops, compressed by gzip. See `decodeParsed`. */
export const encodeParsed = (
  parsed: Parsed,
  hashOf: (crop: Uint8Array) => string = sha256
): Promise<Uint8Array<ArrayBuffer>> => {
  // Half the size of objects. A long document has 100,000 lines.
  const lines = parsed.lines.map(({ box, end, page, start }) => [start, end, page, ...box])
  const figures = parsed.figures.map(({ crop, ...figure }) => ({ ...figure, crop: crop && hashOf(crop) }))
  return promisify(gzip)(JSON.stringify({ ...parsed, lines, figures }))
}
