/** Files of a multipart body, one at a time: memory holds the one that is being read and the one before it. */
import { jsonIn } from "@sluice/core/client"
import { MAX_FILE_BYTES, type Metadata, METADATA_BYTES, RagError, type Upload } from "@sluice/rag"
import { Effect, Predicate, Result, Stream } from "effect"
import { Multipart } from "effect/http"
import type { FailedFile } from "../contract/Documents.ts"
import { documentPath } from "../contract/DocumentPath.ts"

/** Characters of a path at most: what is listed, shown and sent in headers stays of a size that everybody takes. */
const MAX_PATH = 1024

/** Characters that are shown of a longer one. */
const SHOWN = 80

/** An upload from which nothing comes for so long is given up: other uploads and removals wait for it. */
const STALLED = "30 seconds"

/** Reads a part to its end, keeping nothing beyond the limit. */
const readPart = (part: Multipart.File) =>
  patiently(part.content).pipe(
    Stream.runFold(
      () => ({ chunks: [] as Array<Uint8Array>, bytes: 0 }),
      (read, chunk) => {
        read.bytes += chunk.length
        if (read.bytes <= MAX_FILE_BYTES) read.chunks.push(chunk)
        else read.chunks.length = 0
        return read
      }
    )
  )

const FAULTS: Partial<Record<Multipart.MultipartError["reason"]["_tag"], string>> = {
  BodyTooLarge: "The upload is too large: send fewer files at once",
  FieldTooLarge: "A form field is too large: send the documents as file parts, each with a filename"
}

const brokenOff = ({ reason: { _tag } }: Multipart.MultipartError) =>
  new RagError({
    stage: "ingest",
    reason: _tag === "BodyTooLarge" ? "TooLarge" : "Malformed",
    message: `${FAULTS[_tag] ?? "The upload is cut short, or is not multipart/form-data with a boundary"}. What came whole before is kept: send the rest again`
  })

const stalled = new RagError({
  stage: "ingest",
  reason: "Malformed",
  message: `Nothing came for ${STALLED}. What came whole before is kept: send the rest again`
})

const noMetadata = (message: string) => new RagError({ stage: "ingest", reason: "Malformed", message })

const afterFiles = noMetadata(
  "No file follows the field `metadata`: it is attached to the files after it, so put it before them"
)

/** What a field that is no file stands for; whether that may be attached, the library says. */
const metadataOf = (key: string, text: string): Effect.Effect<Metadata, RagError> => {
  if (key !== "metadata") {
    const shown = key.slice(0, SHOWN)
    return Effect.fail(
      noMetadata(
        `The field \`${shown}\` is not known: send files as parts with a filename, and \`metadata\` before them`
      )
    )
  }
  if (text.length > METADATA_BYTES) {
    return Effect.fail(noMetadata(`\`metadata\` has more than ${METADATA_BYTES} characters: shorten it`))
  }
  const metadata = jsonIn(text)
  return Predicate.isObject(metadata)
    ? Effect.succeed(metadata as Metadata)
    : Effect.fail(noMetadata('`metadata` is not a JSON object, such as `{"year": 2026}`'))
}

type Fault = RagError | Multipart.MultipartError
const isFault = (next: Upload | Fault): next is Fault => "_tag" in next

const patiently = <A, E>(stream: Stream.Stream<A, E>): Stream.Stream<A, E | RagError> =>
  Stream.timeoutOrElse(stream, { duration: STALLED, orElse: () => Stream.fail(stalled) })

/** The files of an upload that may be read; each that may not goes to `refuse`. */
export const uploads = (
  parts: Stream.Stream<Multipart.Part, Multipart.MultipartError>,
  refuse: (refused: FailedFile) => void
): Stream.Stream<Upload, RagError> => Stream.suspend(() => uploadsOf(parts, refuse))

const uploadsOf = (
  parts: Stream.Stream<Multipart.Part, Multipart.MultipartError>,
  refuse: (refused: FailedFile) => void
): Stream.Stream<Upload, RagError> => {
  /** For the files to come, and whether one has come. */
  const attached: { metadata?: Metadata; used: boolean } = { used: true }
  return patiently(parts).pipe(
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
        const { chunks, bytes } = result.success
        const path = documentPath(part.name)
        if (path === "") {
          refuse({
            path: part.name,
            reason: "malformed",
            message: "The file has no name: send a filename with it"
          })
          return undefined
        }
        if (path.length > MAX_PATH) {
          const shown = `${path.slice(0, SHOWN)}…`
          refuse({
            path: shown,
            reason: "malformed",
            message: `${shown} is a path of more than ${MAX_PATH} characters: shorten it`
          })
          return undefined
        }
        if (bytes > MAX_FILE_BYTES) {
          const mebibytes = Math.round(MAX_FILE_BYTES / 1024 / 1024)
          refuse({
            path,
            reason: "too_large",
            message: `${path} is larger than ${mebibytes} MiB: split it, or leave it out`
          })
          return undefined
        }
        return { path, bytes: Buffer.concat(chunks), ...(metadata !== undefined && { metadata }) }
      })
    }),
    Stream.filter((upload) => upload !== undefined),
    Stream.concat(Stream.suspend(() => (attached.used ? Stream.empty : Stream.succeed(afterFiles)))),
    // One file is held back: only what follows it shows that it came whole.
    Stream.concat(Stream.succeed("end" as const)),
    Stream.mapAccum(
      (): ReadonlyArray<Upload> => [],
      (held, next): [ReadonlyArray<Upload>, ReadonlyArray<Upload | Fault>] =>
        next === "end" ? [[], held] : isFault(next) ? [[], [...held, next]] : [[next], held]
    ),
    Stream.mapEffect((next) => (isFault(next) ? Effect.fail(next) : Effect.succeed(next))),
    Stream.mapError((error) => (error instanceof RagError ? error : brokenOff(error)))
  )
}
