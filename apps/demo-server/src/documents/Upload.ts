/** Files of a multipart body, one at a time: memory holds the one that is being read and the one before it. */
import { RagError, type Upload } from "@sluice/rag"
import { Effect, Stream } from "effect"
import { Multipart } from "effect/http"

/** Bytes of one file at most, what a library reads; a larger one is refused here so that memory does not hold it. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024

/** Bytes of one upload at most, all files together. */
export const MAX_UPLOAD_BYTES = 2 * 1024 * 1024 * 1024

/** A file that was refused before the library saw it. */
export interface Refused {
  readonly path: string
  readonly reason: "too_large" | "malformed"
  readonly message: string
}

/** The path a part's filename stands for: relative, with `/`, without `.`, `..`, a drive or control characters. */
export const pathOf = (filename: string): string =>
  filename
    .replaceAll("\\", "/")
    .replace(/^[A-Za-z]:/, "")
    // oxlint-disable-next-line no-control-regex -- they are what is removed
    .replaceAll(/[\u0000-\u001f\u007f]/g, "")
    .split("/")
    .filter((step) => step !== "" && step !== "." && step !== "..")
    .join("/")

/** Reads a part to its end, keeping nothing beyond the limit. */
const readPart = (part: Multipart.File) =>
  part.content.pipe(
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

const brokenOff = (error: Multipart.MultipartError) =>
  new RagError({
    stage: "ingest",
    reason: error.reason._tag === "BodyTooLarge" ? "TooLarge" : "Malformed",
    message: `The upload is not whole (${error.reason._tag}): what was on disk before stays; send the rest again`
  })

/** The files of an upload that may be read; each that may not goes to `refuse`. */
export const uploads = (
  parts: Stream.Stream<Multipart.Part, Multipart.MultipartError>,
  refuse: (refused: Refused) => void
): Stream.Stream<Upload, RagError> =>
  parts.pipe(
    Stream.filter(Multipart.isFile),
    Stream.mapEffect((part) =>
      Effect.map(readPart(part), ({ chunks, bytes }): Upload | undefined => {
        const path = pathOf(part.name)
        if (path === "") {
          refuse({
            path: part.name,
            reason: "malformed",
            message: "The file has no name: send a filename with it"
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
        return { path, bytes: Buffer.concat(chunks) }
      })
    ),
    Stream.filter((upload) => upload !== undefined),
    // One file is held back: only what follows it shows that it came whole.
    Stream.concat(Stream.succeed("end" as const)),
    Stream.mapAccum(
      (): ReadonlyArray<Upload> => [],
      (held, next) => [next === "end" ? [] : [next], held]
    ),
    Stream.mapError((error) => (error instanceof RagError ? error : brokenOff(error)))
  )
