/** Files of a folder, named and read with typed failures: the one place of this package that reads the disk. */
import { readdir, readFile, realpath, stat } from "node:fs/promises"
import { basename, dirname, join, resolve, sep } from "node:path"
import { MAX_IMAGE_BYTES } from "@sluice/core"
import { Effect, Result } from "effect"
import { shown } from "../../document/Given.ts"
import type { IngestFailure } from "../IngestReport.ts"
import { MAX_FILE_BYTES } from "../../formats/parsing/DocumentFormat.ts"
import type { PictureFile } from "../../formats/parsing/Pictures.ts"
import { RagError, type RagReason } from "../../document/RagError.ts"

/** What a path to be ingested stands for. */
export interface SourceFiles {
  /** Absolute path of the folder; that of the file's folder when one file was named. */
  readonly root: string
  /** Paths relative to `root`, with `/`, sorted. */
  readonly paths: ReadonlyArray<string>
  /** Whether `paths` is all there is below `root`, so that a document without a file may be removed. */
  readonly whole: boolean
  /** Folders that could not be read: what is below them is unknown, not gone. */
  readonly failed: ReadonlyArray<IngestFailure>
}

/**
 * Lists a folder, or one file. Hidden files and folders and the tables of libraries are left out; links are followed, each
 * folder once, upwards never.
 */
export const listFiles = Effect.fn("SourceFiles.list")(function* (path: string) {
  if (typeof path !== "string" || path === "" || path.includes("\0")) return yield* nowhere(path)
  const target = resolve(path)
  const stats = yield* disk(path, () => stat(target))
  if (stats.isFile()) {
    const one: SourceFiles = { root: dirname(target), paths: [basename(target)], whole: false, failed: [] }
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
      // A link upwards leads to the whole of what is above, and round again.
      if (seen.has(real) || (folder !== "" && isAbove(real, top))) return
      seen.add(real)
      const entries = yield* disk(folder || path, () => readdir(absolute, { withFileTypes: true }))
      if (isTable(real, entries)) return
      for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
        if (entry.name.startsWith(".")) continue
        const below = folder === "" ? entry.name : `${folder}/${entry.name}`
        if (entry.name.includes("\uFFFD") && !(yield* isThere(target, below)) && !entry.isDirectory())
          failed.push({ path: below, error: undecodable(below) })
        else if (entry.isDirectory()) yield* walk(below)
        else if (entry.isFile()) paths.push(below)
        else if (entry.isSymbolicLink()) {
          // One that leads nowhere, or to itself, is no matter of the files beside it.
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
  const all: SourceFiles = { root: target, paths, whole: true, failed }
  return all
})

/** Whether LanceDB wrote it: a library may lie within the folder that it ingests. */
const isTable = (folder: string, entries: ReadonlyArray<{ readonly name: string }>): boolean =>
  folder.endsWith(".lance") && entries.some(({ name }) => name === "_versions")

const isAbove = (folder: string, below: string): boolean =>
  below.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)

/** Reads a file whole; one over the limit is refused before it is read. */
export const readSource = Effect.fn("SourceFiles.read")(function* (root: string, path: string) {
  const absolute = join(root, ...path.split("/"))
  const { size } = yield* disk(path, () => stat(absolute))
  if (size > MAX_FILE_BYTES) return yield* tooLarge(path, size)
  const bytes: Uint8Array = yield* disk(path, () => readFile(absolute))
  return bytes
})

/**
 * Reads pictures that lie beside a document, within the folder that is ingested: not above it, not by a link that leads
 * out of it, and nothing hidden. A path that begins with `/` begins at that folder.
 */
export const pictureBeside =
  (root: string, document: string): PictureFile =>
  (reference) =>
    Effect.promise(async () => {
      try {
        const name = decodeURIComponent(reference.replace(/[?#].*$/s, "")).replaceAll("\\", "/")
        const from = name.startsWith("/") ? root : join(root, dirname(document))
        const target = resolve(join(from, name))
        if (!isAbove(resolve(root), target)) return "lies outside of the folder that is ingested"
        if (target.slice(resolve(root).length).includes(`${sep}.`)) return "is hidden"
        const real = await realpath(target)
        if (!isAbove(await realpath(root), real)) return "lies outside of the folder that is ingested"
        const stats = await stat(real)
        if (!stats.isFile()) return undefined
        return stats.size > MAX_IMAGE_BYTES ? "has more than 20 MB" : await readFile(real)
      } catch {
        return undefined
      }
    })

/** A file over the limit, named with both sizes. */
export const tooLarge = (path: string, bytes: number): RagError =>
  new RagError({
    stage: "ingest",
    reason: "TooLarge",
    message: `${path} has ${megabytes(bytes)} MB; files up to ${megabytes(MAX_FILE_BYTES)} MB are read. Split it, or leave it out.`,
    document: path
  })

/** Node gives such a name with U+FFFD in it, by which nothing can be opened. */
const undecodable = (path: string): RagError =>
  new RagError({
    stage: "ingest",
    reason: "Malformed",
    message: `${path} has a name that is no UTF-8. Rename it.`,
    document: path
  })

/** Of an empty path Node makes the present folder, with all that is below it. */
const nowhere = (path: unknown): RagError =>
  new RagError({
    stage: "ingest",
    reason: "Malformed",
    message: `${shown(path)} names no folder and no file. Give the path of one; "." is the present folder.`
  })

/** Whether a file still stands below a folder. */
export const isThere = (root: string, path: string): Effect.Effect<boolean> =>
  Effect.promise(() =>
    stat(join(root, ...path.split("/"))).then(
      (stats) => stats.isFile(),
      () => false
    )
  )

/** Where a folder is, without links; undefined where it is no more. */
export const realFolder = (root: string): Effect.Effect<string | undefined> =>
  Effect.promise(() => realpath(root).catch(() => undefined))

const megabytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(bytes < 10 * 1024 * 1024 ? 1 : 0)

const disk = <A>(path: string, call: () => Promise<A>): Effect.Effect<A, RagError> =>
  Effect.tryPromise({ try: call, catch: (cause) => diskError(path, cause) })

const diskError = (path: string, cause: unknown): RagError => {
  const code = (cause as NodeJS.ErrnoException).code ?? "unknown error"
  const [reason, message] = explain(code, path)
  return new RagError({ stage: "ingest", reason, message, document: path, cause })
}

const explain = (code: string, path: string): readonly [RagReason, string] => {
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
    case "EISDIR":
      return ["NotFound", `${path} is not there. Check the path.`]
    case "EACCES":
    case "EPERM":
      return [
        "PermissionDenied",
        `${path} may not be read by this user. Give it the right to read, or leave the file out.`
      ]
    case "ELOOP":
      return ["Malformed", `${path} is a link that leads to itself. Remove it.`]
    default:
      return ["Internal", `${path} could not be read (${code}). Check the disk it is on.`]
  }
}
