/** A folder as a source: its files, the names that they are stored under, and the documents whose files were deleted. */
import { sep } from "node:path"
import { Effect, Stream } from "effect"
import { documentId } from "../../document/Hash.ts"
import { resolveMetadata } from "../../document/Metadata.ts"
import type { StoredDocument } from "../../store/PassageIndex.ts"
import { type FolderSource, isFolderSource } from "./Source.ts"
import { isFile, listFiles, pictureReader, readSource, realFolder } from "./SourceFiles.ts"

/** Lists a folder or one file. `stored` are the documents of the collection, by identifier. */
export const folderFiles = Effect.fn("FolderFiles.list")(function* (
  { folder, metadata }: FolderSource,
  stored: ReadonlyMap<string, StoredDocument>
) {
  const { failed, isFolder, paths, root: listed } = yield* listFiles(folder)
  const roots = yield* sameFolders(listed, stored)
  // A folder that is reached by a link keeps the path that it was first ingested by.
  const root = roots.values().next().value ?? listed
  // Files below a folder that could not be read are unknown, not deleted.
  const unreadable = failed.flatMap(({ path }) => namesOf(`${path}/`, root))
  const present = new Set(
    failed.flatMap(({ error, path }) => (error.reason === "NotFound" ? [] : namesOf(path, root)))
  )
  const taken = new Set(paths)
  return {
    root,
    count: paths.length,
    failed,
    files: Stream.mapEffect(Stream.fromIterable(paths), (file) =>
      Effect.map(nameOf(file, root, roots, stored, taken), (path) => ({
        path,
        file,
        source: root,
        read: readSource(root, file),
        metadata: resolveMetadata(path, () => metadata?.(file)),
        picture: pictureReader(root, file)
      }))
    ),
    /** The documents of this folder whose files were deleted, given the identifiers of those that were found. */
    deleted: (found: ReadonlySet<string>): ReadonlyArray<StoredDocument> =>
      isFolder
        ? [...stored.values()].filter(
            ({ info, source }) =>
              roots.has(source) &&
              !found.has(info.id) &&
              !present.has(info.path) &&
              !unreadable.some((folder) => info.path.startsWith(folder))
          )
        : []
  }
})

/** The source folders of stored documents that are this folder, by whichever link. */
const sameFolders = Effect.fnUntraced(function* (root: string, stored: ReadonlyMap<string, StoredDocument>) {
  const real = yield* realFolder(root)
  const sources = new Set([...stored.values()].map(({ source }) => source).filter(isFolderSource))
  const same = yield* Effect.filter(sources, (source) =>
    source === root ? Effect.succeed(true) : Effect.map(realFolder(source), (other) => other === real)
  )
  return new Set(same)
})

/** The names that a file may have: its path in the folder, and that with more and more of the folder's path before it. */
const namesOf = (path: string, root: string): ReadonlyArray<string> => {
  const above = root.split(sep).filter((part) => part !== "")
  return [path, ...above.map((_, i) => `${above.slice(-i - 1).join("/")}/${path}`)]
}

/**
 * The name that a file is stored under. Files of several folders may have the same relative path: this gives the first
 * name that no other file has, neither of this folder nor, if it still exists, of another.
 */
const nameOf = Effect.fnUntraced(function* (
  path: string,
  root: string,
  roots: ReadonlySet<string>,
  stored: ReadonlyMap<string, StoredDocument>,
  taken: Set<string>
) {
  for (const name of namesOf(path, root)) {
    if (name !== path && taken.has(name)) continue
    const source = stored.get(documentId(name))?.source
    if (source !== undefined && !roots.has(source) && (yield* stillExists(name, source))) continue
    taken.add(name)
    return name
  }
  return path
})

/** Whether the file that is stored under a name still exists in its source folder. */
const stillExists = Effect.fnUntraced(function* (name: string, source: string) {
  if (!isFolderSource(source)) return false
  const parts = name.split("/")
  for (let i = 0; i < parts.length; i++) {
    const file = parts.slice(i).join("/")
    if (namesOf(file, source).includes(name) && (yield* isFile(source, file))) return true
  }
  return false
})
