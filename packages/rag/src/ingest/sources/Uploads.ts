/** Files in memory as a source. */
import { Effect, Stream } from "effect"
import { formatValue } from "../../document/Arguments.ts"
import { resolveMetadata } from "../../document/Metadata.ts"
import { RagError } from "../../document/RagError.ts"
import type { SourceFile, Upload } from "./Source.ts"

interface UploadedFiles<E> {
  readonly count: number | undefined
  readonly files: Stream.Stream<SourceFile, E>
}

/** The files, and how many there are unless they come as a stream. */
export const listUploads = Effect.fn("Uploads.list")(function* <E>(
  uploads: Iterable<Upload> | Stream.Stream<Upload, E>
): Effect.fn.Return<UploadedFiles<E>, RagError> {
  if (Stream.isStream(uploads)) return { count: undefined, files: Stream.map(uploads, uploadedFile) }
  const list = yield* Effect.try({
    try: () => [...uploads],
    catch: (cause) => malformed(`The files could not be listed: ${String(cause)}. Nothing was ingested.`)
  })
  return { count: list.length, files: Stream.map(Stream.fromIterable(list), uploadedFile) }
})

/** An upload as a file. If the upload is invalid, only this file fails. */
export const uploadedFile = (upload: Partial<Upload> | null): SourceFile => {
  const { bytes, metadata, path: value, url, version } = upload ?? {}
  const path = typeof value === "string" ? value : ""
  const read = !isPath(path)
    ? malformed(
        `${formatValue(value)} is not a valid path. Use a relative path with "/", without empty parts, "." and "..".`
      )
    : bytes instanceof Uint8Array
      ? Effect.succeed(bytes)
      : malformed(`The bytes of ${path} are not a Uint8Array. Pass the result of readFile.`)
  return {
    path,
    source: "",
    bytes: bytes?.byteLength,
    read,
    version,
    metadata: resolveMetadata(path, () => metadata),
    url: Effect.succeed(url)
  }
}

/** Whether the path is the only way to write it. Otherwise two paths of one document would replace each other. */
const isPath = (path: string): boolean =>
  !path.includes("\\") && path.split("/").every((part) => part !== "" && part !== "." && part !== "..")

const malformed = (message: string): RagError =>
  new RagError({ stage: "ingest", reason: "Malformed", message })
