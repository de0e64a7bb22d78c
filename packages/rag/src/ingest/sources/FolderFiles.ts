/** A folder as what may be ingested of it: names, content, metadata, and which documents have lost their file. */
import { sep } from "node:path"
import { Effect, Stream } from "effect"
import type { SourceFile } from "../Batches.ts"
import { checkMetadata } from "../../document/Metadata.ts"
import type { Metadata } from "../../document/Document.ts"
import { documentId } from "../Draft.ts"
import type { FolderSource, IngestFailure } from "../IngestReport.ts"
import type { StoredDocument } from "../../store/PassageIndex.ts"
import { RagError } from "../../document/RagError.ts"
import { isThere, listFiles, pictureBeside, readSource, realFolder } from "./SourceFiles.ts"

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
  const { failed, paths, root: listed, whole } = yield* listFiles(folder)
  // A link and the folder that it leads to are one folder: it goes by the name that it was first ingested by.
  const own = yield* namesOfFolder(listed, known)
  const root = own.values().next().value ?? listed
  // What stands below a folder that could not be read is unknown, not gone.
  const unknown = failed.flatMap(({ path }) => namesOf(`${path}/`, root))
  const closed = new Set(
    failed.flatMap(({ error, path }) => (error.reason === "NotFound" ? [] : namesOf(path, root)))
  )
  const taken = new Set(paths)
  return {
    root,
    count: paths.length,
    failed,
    files: Stream.fromIterable(paths).pipe(
      Stream.mapEffect((file) =>
        Effect.map(nameOf(file, root, own, known, taken), (path) => ({
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
              own.has(source) &&
              !seen.has(info.id) &&
              !closed.has(info.path) &&
              !unknown.some((below) => info.path.startsWith(below))
          )
        : []
  } satisfies FolderFiles
})

/** The folders that documents came from which are this one, by whichever link. */
const namesOfFolder = Effect.fnUntraced(function* (root: string, known: ReadonlyMap<string, StoredDocument>) {
  const real = yield* realFolder(root)
  const sources = new Set([...known.values()].map(({ source }) => source))
  const own = yield* Effect.filter(sources, (source) =>
    source === root
      ? Effect.succeed(true)
      : source === ""
        ? Effect.succeed(false)
        : Effect.map(realFolder(source), (other) => other === real)
  )
  return new Set(own)
})

/** What a file may go by: its path within the folder, or that with more and more of the folder's own path before it. */
const namesOf = (path: string, root: string): ReadonlyArray<string> => {
  const above = root.split(sep).filter((part) => part !== "")
  return [path, ...above.map((_, i) => `${above.slice(-i - 1).join("/")}/${path}`)]
}

/**
 * The name a file goes by. Several folders may have a file of the same relative path: the first of its names that no file
 * of another folder has which is still there, and no other one of this folder.
 */
const nameOf = Effect.fnUntraced(function* (
  path: string,
  root: string,
  own: ReadonlySet<string>,
  known: ReadonlyMap<string, StoredDocument>,
  taken: Set<string>
) {
  for (const name of namesOf(path, root)) {
    if (name !== path && taken.has(name)) continue
    const holder = known.get(documentId(name))
    if (holder !== undefined && !own.has(holder.source) && (yield* isHeld(name, holder.source))) continue
    taken.add(name)
    return name
  }
  return path
})

/** Whether the file that has a name is still there, below the folder that it came from. */
const isHeld = Effect.fnUntraced(function* (name: string, source: string) {
  if (source === "") return false
  const parts = name.split("/")
  for (let i = 0; i < parts.length; i++) {
    const file = parts.slice(i).join("/")
    if (namesOf(file, source).includes(name) && (yield* isThere(source, file))) return true
  }
  return false
})

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
