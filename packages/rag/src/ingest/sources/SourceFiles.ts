/** Lists and reads files of a folder, with typed failures. No other file of this package reads documents from the disk. */
import { readdir, readFile, realpath, stat } from "node:fs/promises"
import { basename, dirname, join, resolve, sep } from "node:path"
import { MAX_IMAGE_BYTES } from "@sluice/core/contract"
import { Effect, Result } from "effect"
import { formatValue } from "../../document/Arguments.ts"
import { ingestError, RagError, type RagReason } from "../../document/RagError.ts"
import { MAX_FILE_BYTES } from "../../formats/parsing/DocumentFormat.ts"
import { isHidden } from "../../formats/parsing/FileName.ts"
import type { PictureFile } from "../../formats/parsing/Pictures.ts"
import type { IngestFailure } from "./Source.ts"

export interface SourceFiles {
  /** Absolute path of the folder, or of the folder that holds the one file. */
  readonly root: string
  /** Relative to `root`, with `/`, sorted. */
  readonly paths: ReadonlyArray<string>
  /** False if the path names one file. */
  readonly isFolder: boolean
  /** Files and folders that could not be read. */
  readonly failed: ReadonlyArray<IngestFailure>
}

/**
 * Lists a folder, or one file. Skips hidden files and folders, and the tables of libraries. Follows links, but visits each
 * folder once and none above the listed one.
 */
export const listFiles = Effect.fn("SourceFiles.list")(function* (path: string) {
  if (typeof path !== "string" || path === "" || path.includes("\0")) return yield* invalidPath(path)
  const target = resolve(path)
  const stats = yield* disk(path, () => stat(target))
  if (stats.isFile()) {
    const one: SourceFiles = { root: dirname(target), paths: [basename(target)], isFolder: false, failed: [] }
    return one
  }
  const paths: Array<string> = []
  const failed: Array<IngestFailure> = []
  const seen = new Set<string>()
  const top = yield* disk(path, () => realpath(target))
  const walk = (folder: string): Effect.Effect<void> =>
    Effect.gen(function* () {
      const absolute = join(target, folder)
      const real = yield* disk(folder || path, () => realpath(absolute))
      // A link to a folder above would include everything below that, and this folder again.
      if (seen.has(real) || (folder !== "" && isAbove(real, top))) return
      seen.add(real)
      const entries = yield* disk(folder || path, () => readdir(absolute, { withFileTypes: true }))
      if (isTable(real, entries)) return
      for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
        if (isHidden(entry.name)) continue
        const below = folder === "" ? entry.name : `${folder}/${entry.name}`
        if (entry.name.includes("\uFFFD") && !(yield* isFile(target, below)) && !entry.isDirectory())
          failed.push({ path: below, error: invalidName(below) })
        else if (entry.isDirectory()) yield* walk(below)
        else if (entry.isFile()) paths.push(below)
        else if (entry.isSymbolicLink()) {
          // A broken link does not affect the files beside it.
          const linked = yield* Effect.result(disk(below, () => stat(join(target, below))))
          if (Result.isFailure(linked)) failed.push({ path: below, error: linked.failure })
          else if (linked.success.isDirectory()) yield* walk(below)
          else if (linked.success.isFile()) paths.push(below)
        }
      }
    }).pipe(Effect.catch((error) => Effect.sync(() => failed.push({ path: folder, error }))))
  yield* walk("")
  const rootFailure = failed.find((failure) => failure.path === "")
  if (rootFailure !== undefined) return yield* rootFailure.error
  const all: SourceFiles = { root: target, paths, isFolder: true, failed }
  return all
})

/** Whether LanceDB wrote the folder: a library may lie inside the folder that it ingests. */
const isTable = (folder: string, entries: ReadonlyArray<{ readonly name: string }>): boolean =>
  folder.endsWith(".lance") && entries.some(({ name }) => name === "_versions")

const isAbove = (folder: string, below: string): boolean =>
  below.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)

/** Reads a file. Fails with `TooLarge` before it reads, if the file exceeds the limit. */
export const readSource = Effect.fn("SourceFiles.read")(function* (root: string, path: string) {
  const absolute = join(root, ...path.split("/"))
  const { size } = yield* disk(path, () => stat(absolute))
  if (size > MAX_FILE_BYTES) return yield* tooLarge(path, size)
  const bytes: Uint8Array = yield* disk(path, () => readFile(absolute))
  return bytes
})

/**
 * Reads pictures that a document links to. They must lie inside the ingested folder, also after links are resolved, and
 * not be hidden. A reference that begins with `/` is relative to the ingested folder.
 */
export const pictureReader =
  (root: string, document: string): PictureFile =>
  (reference) =>
    Effect.promise(async () => {
      try {
        const name = decodeURIComponent(reference.replace(/[?#].*$/s, "")).replaceAll("\\", "/")
        const from = name.startsWith("/") ? root : join(root, dirname(document))
        const target = resolve(join(from, name))
        if (!isAbove(resolve(root), target)) return OUTSIDE
        if (target.slice(resolve(root).length).includes(`${sep}.`)) return "is hidden"
        const real = await realpath(target)
        if (!isAbove(await realpath(root), real)) return OUTSIDE
        const stats = await stat(real)
        if (!stats.isFile()) return undefined
        return stats.size > MAX_IMAGE_BYTES ? "has more than 20 MB" : await readFile(real)
      } catch {
        return undefined
      }
    })

const OUTSIDE = "lies outside the ingested folder"

export const isFile = (root: string, path: string): Effect.Effect<boolean> =>
  Effect.promise(() =>
    stat(join(root, ...path.split("/"))).then(
      (stats) => stats.isFile(),
      () => false
    )
  )

/** The path of a folder with its links resolved; undefined if it does not exist. */
export const realFolder = (root: string): Effect.Effect<string | undefined> =>
  Effect.promise(() => realpath(root).catch(() => undefined))

const disk = <A>(path: string, call: () => Promise<A>): Effect.Effect<A, RagError> =>
  Effect.tryPromise({
    try: call,
    catch: (cause) => {
      const code = (cause as NodeJS.ErrnoException).code ?? "unknown error"
      return ingestError(path, ...explain(code, path), cause)
    }
  })

const explain = (code: string, path: string): readonly [RagReason, string] => {
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
    case "EISDIR":
      return ["NotFound", `${path} was not found. Check the path.`]
    case "EACCES":
    case "EPERM":
      return ["PermissionDenied", `No permission to read ${path}. Grant it, or exclude the file.`]
    case "ELOOP":
      return ["Malformed", `${path} is a link to itself. Remove it.`]
    default:
      return ["Internal", `${path} could not be read (${code}). Check the disk.`]
  }
}

const tooLarge = (path: string, bytes: number): RagError => {
  const sizes = `${megabytes(bytes)} MB; the limit is ${megabytes(MAX_FILE_BYTES)} MB`
  return ingestError(path, "TooLarge", `${path} has ${sizes}. Split it, or exclude it.`)
}

const megabytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(bytes < 10 * 1024 * 1024 ? 1 : 0)

/** Node replaces invalid bytes of a name by U+FFFD, so that the file cannot be opened by it. */
const invalidName = (path: string): RagError =>
  ingestError(path, "Malformed", `The name of ${path} is not valid UTF-8. Rename the file.`)

/** Node would resolve an empty path to the current folder. */
const invalidPath = (path: unknown): RagError => {
  const message = `${formatValue(path)} is not a path of a folder or file; "." is the current folder.`
  return new RagError({ stage: "ingest", reason: "Malformed", message })
}
