/** Documents that a program gives: records, files, and removals of a source. */
import { Effect } from "effect"
import { formatValue } from "../../document/Arguments.ts"
import type { Metadata } from "../../document/Document.ts"
import { resolveMetadata } from "../../document/Metadata.ts"
import { ingestError, RagError } from "../../document/RagError.ts"
import { RecordContent, recordFormat } from "../../formats/record/Record.ts"
import type { SourceFile, Upload } from "./Source.ts"
import { pictureReader } from "./SourceFiles.ts"
import { uploadedFile } from "./Uploads.ts"
import { Schema } from "effect"

/** A document that a program gives: text, or passages of its own. */
export interface DocumentRecord extends RecordContent {
  /** Any text of at most `MAX_ID` characters. It identifies the document, and is its `path`. */
  readonly id: string
  /** An absolute URL. Absent keeps the document's present one. */
  readonly url?: string | undefined
  /** Absent keeps the document's present metadata; `{}` clears it. */
  readonly metadata?: Metadata | undefined
}

/**
 * What a source gives: records, files, records that are read only if their `version` is new, and removals.
 *
 * **Details.** If `read` fails, this document is reported as failed, and its previous version stays.
 */
export type SourceItem<E = never> =
  | DocumentRecord
  | (Omit<Upload, "bytes"> & {
      readonly bytes: Uint8Array | Effect.Effect<Uint8Array, E>
      /** The folder of pictures that the file may show, and the file's path there. */
      readonly pictures?: { readonly folder: string; readonly file: string }
    })
  | {
      readonly id: string
      readonly version?: string
      readonly read: Effect.Effect<Omit<DocumentRecord, "id">, E>
    }
  | { readonly removed: string }

export const MAX_ID = 2_048

/** The identifier of an item; undefined if it has none that is valid. */
export const itemId = (item: SourceItem<unknown>): string | undefined => {
  const { id, path, removed } = Object(item) as Record<"id" | "path" | "removed", unknown>
  const value = id ?? path ?? removed
  return typeof value === "string" && value !== "" && value.length <= MAX_ID && value.isWellFormed()
    ? value
    : undefined
}

/** An item as a file of a source. If the item is invalid, only this file fails. */
export const sourceFile = <E>(
  item: Exclude<SourceItem<E>, { readonly removed: string }>,
  source: string
): SourceFile => {
  if ("path" in item) {
    const { bytes, pictures } = item
    const picture = pictures && pictureReader(pictures.folder, pictures.file)
    return Effect.isEffect(bytes)
      ? {
          ...uploadedFile({ ...item, bytes: new Uint8Array() }),
          source,
          picture,
          read: fromSource(item.path, bytes)
        }
      : { ...uploadedFile({ ...item, bytes }), source, picture }
  }
  const path = itemId(item) ?? ""
  if (path === "") {
    const message = `${formatValue(item.id)} is not a valid identifier. Use text of 1 to ${MAX_ID} characters.`
    const failed = malformed(message)
    return { path, source, read: failed, metadata: failed }
  }
  // The content is read once, for the three effects below.
  let once: Effect.Effect<Omit<DocumentRecord, "id">, RagError> | undefined
  const record =
    "read" in item
      ? Effect.suspend(() => (once ??= Effect.runSync(Effect.cached(fromSource(path, item.read)))))
      : Effect.succeed(item)
  return {
    path,
    source,
    format: recordFormat.id,
    version: "read" in item ? item.version : undefined,
    read: Effect.flatMap(record, (content) => encodeRecord(path, content)),
    metadata: Effect.flatMap(record, ({ metadata }) => resolveMetadata(path, () => metadata)),
    url: Effect.map(record, ({ url }) => url)
  }
}

/** A failure of a source, as this package's error. */
const fromSource = <A, E>(path: string, effect: Effect.Effect<A, E>): Effect.Effect<A, RagError> =>
  Effect.mapError(effect, (cause) => {
    if (cause instanceof RagError) return cause
    const why = cause instanceof Error ? cause.message : formatValue(cause)
    const message = `${path} could not be read from its source: ${why}`
    return ingestError(path, "Source", message, cause)
  })

const isContent = Schema.is(RecordContent)

/** The JSON of a record, as it is stored. */
const encodeRecord = (
  path: string,
  { format, passages, text, title }: RecordContent
): Effect.Effect<Uint8Array, RagError> => {
  const content = { title, text, format, passages }
  if (!isContent(content) || (text === undefined) === (passages === undefined))
    return malformed(
      `The record ${path} needs either text, with the format text, markdown or html, or passages: texts, or { text, headings }.`
    )
  const isEmpty = text?.trim() === "" || passages?.length === 0
  return isEmpty
    ? Effect.fail(
        new RagError({ stage: "ingest", reason: "Empty", message: `The record ${path} has no text.` })
      )
    : Effect.succeed(new TextEncoder().encode(JSON.stringify(content)))
}

const malformed = (message: string) =>
  Effect.fail(new RagError({ stage: "ingest", reason: "Malformed", message }))
