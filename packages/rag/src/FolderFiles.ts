/** A folder as what may be ingested of it: names, content, metadata, and which documents have lost their file. */
import { Effect, Stream } from "effect"
import type { SourceFile } from "./Batches.ts"
import { checkMetadata } from "./CheckMetadata.ts"
import type { Metadata } from "./Document.ts"
import { documentId } from "./Draft.ts"
import type { FolderSource, IngestFailure } from "./IngestReport.ts"
import type { StoredDocument } from "./PassageIndex.ts"
import { RagError } from "./RagError.ts"
import { folderName, isThere, listFiles, pictureBeside, readSource } from "./SourceFiles.ts"

export interface FolderFiles {
  /** Absolute. */
  readonly root: string
  readonly count: number
  readonly files: Stream.Stream<SourceFile & { readonly file: string }>
  /** What of the folder could not be listed. */
  readonly failed: ReadonlyArray<IngestFailure>
  /** The documents that came from this folder and are not among the identifiers seen. */
  readonly gone: (seen: ReadonlySet<string>) => ReadonlyArray<StoredDocument>
}

/** Lists a folder or one file. `known` is what the collection holds. */
export const folderFiles = Effect.fn("FolderFiles.list")(function* (
  { folder, metadata }: FolderSource,
  known: ReadonlyMap<string, StoredDocument>
) {
  const { failed, paths, root, whole } = yield* listFiles(folder)
  // What stands below a folder that could not be read is unknown, not gone.
  const unknown = failed.flatMap(({ path }) => [`${path}/`, `${folderName(root)}/${path}/`])
  const closed = new Set(failed.flatMap(({ error, path }) => (error.reason === "NotFound" ? [] : [path])))
  return {
    root,
    count: paths.length,
    failed,
    files: Stream.fromIterable(paths).pipe(
      Stream.mapEffect((file) =>
        Effect.map(nameOf(file, root, known), (path) => ({
          path,
          file,
          source: root,
          read: readSource(root, file),
          metadata: metadataOf(path, () => metadata?.(file)),
          picture: pictureBeside(root, file)
        }))
      )
    ),
    gone: (seen) =>
      whole
        ? [...known.values()].filter(
            ({ info, source }) =>
              source === root &&
              !seen.has(info.id) &&
              !closed.has(info.path) &&
              !unknown.some((below) => info.path.startsWith(below))
          )
        : []
  } satisfies FolderFiles
})

/**
 * The name a file goes by. Two folders may have a file of the same relative path: while the other one is still there,
 * the name of the folder is put before the path of the second.
 */
const nameOf = (
  path: string,
  root: string,
  known: ReadonlyMap<string, StoredDocument>
): Effect.Effect<string> => {
  const holder = known.get(documentId(path))
  if (holder === undefined || holder.source === root || holder.source === "") return Effect.succeed(path)
  return Effect.map(isThere(holder.source, path), (there) => (there ? `${folderName(root)}/${path}` : path))
}

/** What the program attaches to a document, checked; its function may throw. */
export const metadataOf = (
  path: string,
  of: () => Metadata | undefined
): Effect.Effect<Metadata | undefined, RagError> =>
  Effect.try({
    try: of,
    catch: (cause) =>
      new RagError({
        stage: "ingest",
        reason: "Malformed",
        message: `The function that gives metadata failed for ${path}: ${String(cause)}. Mend it, and ingest again.`,
        document: path,
        cause
      })
  }).pipe(
    Effect.flatMap((metadata) =>
      metadata === undefined ? Effect.succeed(undefined) : checkMetadata(path, metadata)
    )
  )
