/** The files of a multipart upload, as a stream. Memory holds two files at most: the current and the previous one. */
import { parseJson } from "@sluice/core/client"
import { type Metadata, RagError, type Upload } from "@sluice/rag"
import { METADATA_BYTES } from "@sluice/rag/store"
import { joinInPortions, MAX_FILE_BYTES } from "@sluice/rag/formats"
import { Effect, Predicate, Result, Stream } from "effect"
import { Multipart } from "effect/http"
import { documentPath } from "../contract/Names.ts"
import { type FailedFile, MAX_UPLOAD_PARTS } from "../contract/Documents.ts"
import { mebibytes, type Storage, storageFull } from "../jobs/Storage.ts"

/** Characters of a path at most. Paths are listed, shown and sent in headers. */
const MAX_PATH = 1024

/** Characters of a long name that messages repeat. */
const SHOWN = 80

/** An upload that sends nothing for this long is aborted. Other uploads and removals wait for it. */
const STALL_TIMEOUT = "30 seconds"

const KEPT = "Files that were received completely are kept; send the rest again"

const stalled = new RagError({
  stage: "ingest",
  reason: "Malformed",
  message: `The upload sent nothing for ${STALL_TIMEOUT}. ${KEPT}`
})

const failWhenStalled = <A, E>(stream: Stream.Stream<A, E>): Stream.Stream<A, E | RagError> =>
  Stream.timeoutOrElse(stream, { duration: STALL_TIMEOUT, orElse: () => Stream.fail(stalled) })

/** Reads a part to its end. Content beyond the size limit is discarded. */
const readPart = (part: Multipart.File) =>
  failWhenStalled(part.content).pipe(
    Stream.runFold(
      () => ({ chunks: [] as Array<Uint8Array>, bytes: 0 }),
      (read, chunk) => {
        read.bytes += chunk.length
        if (read.bytes <= MAX_FILE_BYTES) read.chunks.push(chunk)
        else read.chunks.length = 0
        return read
      }
    ),
    Effect.flatMap(({ bytes, chunks }) =>
      Effect.map(
        Effect.promise(() => joinInPortions(chunks)),
        (content) => ({ bytes, content })
      )
    )
  )

const FAULTS: Partial<Record<Multipart.MultipartError["reason"]["_tag"], string>> = {
  BodyTooLarge: "The upload is too large. Send fewer files at once",
  FieldTooLarge: "A form field is too large. Send documents as file parts, each with a filename",
  TooManyParts: `The upload has more than ${MAX_UPLOAD_PARTS} files and fields. Send fewer at once`
}

const brokenUpload = ({ reason: { _tag } }: Multipart.MultipartError) =>
  new RagError({
    stage: "ingest",
    reason: _tag === "BodyTooLarge" || _tag === "TooManyParts" ? "TooLarge" : "Malformed",
    message: `${FAULTS[_tag] ?? "The upload is incomplete, or is not multipart/form-data with a boundary"}. ${KEPT}`
  })

const invalidField = (message: string) => new RagError({ stage: "ingest", reason: "Malformed", message })

const metadataLast = invalidField(
  "No file follows the field `metadata`. It applies to the files after it, so send it before them"
)

/** The metadata of a form field. The library checks whether it can be attached. */
const metadataOf = (key: string, text: string): Effect.Effect<Metadata, RagError> => {
  const reject = (message: string) => Effect.fail(invalidField(message))
  const advice = "Send files as parts with a filename, and `metadata` before them"
  if (key !== "metadata") return reject(`Unknown field \`${key.slice(0, SHOWN)}\`. ${advice}`)
  if (text.length > METADATA_BYTES) return reject(`\`metadata\` has more than ${METADATA_BYTES} characters`)
  const metadata = parseJson(text)
  return Predicate.isObject(metadata)
    ? Effect.succeed(metadata as Metadata)
    : reject('`metadata` must be a JSON object, such as `{"year": 2026}`')
}

/** Why a file is rejected before the library reads it. */
const rejectionOf = (name: string, path: string, bytes: number): FailedFile | undefined => {
  if (path === "")
    return { path: name, reason: "malformed", message: "The file has no name. Send a filename with it" }
  if (path.length > MAX_PATH) {
    const start = `${path.slice(0, SHOWN)}…`
    const message = `The path ${start} has more than ${MAX_PATH} characters`
    return { path: start, reason: "malformed", message }
  }
  if (bytes <= MAX_FILE_BYTES) return undefined
  const message = `${path} is larger than ${mebibytes(MAX_FILE_BYTES)}. Split it or leave it out`
  return { path, reason: "too_large", message }
}

type Fault = RagError | Multipart.MultipartError
const isFault = (next: Upload | Fault): next is Fault => "_tag" in next

/** The files of an upload that the library may read, and that fit into the storage. The others go to `reject`. */
export const uploadedFiles = (
  parts: Stream.Stream<Multipart.Part, Multipart.MultipartError>,
  reject: (file: FailedFile) => void,
  storage: Omit<Storage, "admit" | "release">
): Stream.Stream<Upload, RagError> =>
  Stream.suspend(() => {
    /** The metadata of the files to come, and whether any file came after it. */
    const attached: { metadata?: Metadata; used: boolean } = { used: true }
    return failWhenStalled(parts).pipe(
      Stream.mapEffect((part): Effect.Effect<Upload | Fault | undefined> => {
        if (Multipart.isField(part)) {
          return Effect.match(metadataOf(part.key, part.value), {
            onFailure: (fault) => fault,
            onSuccess: (metadata) => void Object.assign(attached, { metadata, used: false })
          })
        }
        attached.used = true
        const { metadata } = attached
        return Effect.map(Effect.result(readPart(part)), (result): Upload | Fault | undefined => {
          if (Result.isFailure(result)) return result.failure
          const { bytes, content } = result.success
          const path = documentPath(part.name)
          const rejection =
            rejectionOf(part.name, path, bytes) ??
            (storage.take(bytes) ? undefined : storageFull(path, storage))
          if (rejection === undefined)
            return { path, bytes: content, ...(metadata !== undefined && { metadata }) }
          reject(rejection)
          return undefined
        })
      }),
      Stream.filter((upload) => upload !== undefined),
      Stream.concat(Stream.suspend(() => (attached.used ? Stream.empty : Stream.succeed(metadataLast)))),
      // A file is complete only when something follows it, so the last one is held back.
      Stream.concat(Stream.succeed("end" as const)),
      Stream.mapAccum(
        (): ReadonlyArray<Upload> => [],
        (held, next): [ReadonlyArray<Upload>, ReadonlyArray<Upload | Fault>] =>
          next === "end" ? [[], held] : isFault(next) ? [[], [...held, next]] : [[next], held]
      ),
      Stream.mapEffect((next) => (isFault(next) ? Effect.fail(next) : Effect.succeed(next))),
      Stream.mapError((error) => (error instanceof RagError ? error : brokenUpload(error)))
    )
  })
