/** A folder of this machine, read and watched. Links are not followed. */
import { type Stats } from "node:fs"
import { lstat, readdir, readFile, realpath } from "node:fs/promises"
import { isAbsolute, join, relative, sep } from "node:path"
import type { SourceItem } from "@sluice/rag"
import { formatOf, isHidden, MAX_FILE_BYTES } from "@sluice/rag/formats"
import { watch } from "chokidar"
import { Cause, Effect, Queue, Stream } from "effect"
import { isDocument, type SourceAddress, SourceFault, type SourceKind } from "./SourceKind.ts"

/** How long changes are collected: an editor writes a file in several steps. */
const SETTLE = "300 millis"
/** Changes that are collected at most. */
const MAX_CHANGES = 1_000

type Item = SourceItem<SourceFault>

const toFault = (what: string) => (cause: unknown) =>
  new SourceFault({
    message: `${what} could not be read (${(cause as NodeJS.ErrnoException).code ?? "unknown"})`
  })

/** The path of a folder with its links resolved; undefined if it is no folder. */
const realFolder = (path: string) =>
  Effect.promise(async () => {
    try {
      const found = await realpath(path)
      return (await lstat(found)).isDirectory() ? found : undefined
    } catch {
      return undefined
    }
  })

/** Hidden files and tables of LanceDB. */
const isIgnored = (path: string): boolean => isHidden(path) || /\.lance(?:[/\\]|$)/.test(path)

const isInside = (path: string, root: string): boolean =>
  `${path}${sep}`.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)

/** The folder, if it may be read. */
const allowedFolder = Effect.fnUntraced(function* (
  address: string,
  allowed: ReadonlyArray<string> | undefined
) {
  const folder = yield* realFolder(address)
  if (allowed === undefined) {
    return folder ?? (yield* new SourceFault({ message: `There is no folder ${address}. Check the path` }))
  }
  const roots = yield* Effect.forEach(allowed, realFolder)
  const isAllowed =
    isAbsolute(address) &&
    folder !== undefined &&
    roots.some((root) => root !== undefined && isInside(folder, root))
  // The same message for a missing folder: it says nothing about the disk.
  const message = `The folder ${address} may not be read. An administrator allows folders with SLUICE_SOURCE_FOLDERS`
  return isAllowed ? folder : yield* new SourceFault({ message })
})

const open = Effect.fnUntraced(function* (
  { address, name }: SourceAddress,
  { folders, formats }: Parameters<SourceKind["open"]>[1]
) {
  const folder = yield* allowedFolder(address, folders)
  const fileItem = (path: string, { ino, mtimeMs, size }: Stats): Item => {
    // A picture may change while the file that shows it stays the same: those files are read each time.
    const showsPictures = formatOf(path, formats)?.showsPictures === true
    const file = join(folder, path)
    return {
      path: `${name}/${path}`,
      ...(showsPictures ? { pictures: { folder, file: path } } : { version: `${mtimeMs}-${size}-${ino}` }),
      bytes:
        size > MAX_FILE_BYTES
          ? Effect.fail(new SourceFault({ message: `${path} is larger than 64 MiB. Split it` }))
          : Effect.tryPromise({ try: () => readFile(file), catch: toFault(path) })
    }
  }
  const itemAt = (path: string) =>
    Effect.promise(async (): Promise<ReadonlyArray<Item>> => {
      const stats = await lstat(join(folder, path)).catch(() => undefined)
      return stats?.isFile() === true && isDocument(path, formats) ? [fileItem(path, stats)] : []
    })

  /** Folder by folder, sorted. A folder that cannot be read fails the run: its documents must not be removed. */
  const walk = (below: string): Stream.Stream<Item, SourceFault> =>
    Stream.fromIterableEffect(
      Effect.tryPromise({
        try: async () => {
          const entries = await readdir(join(folder, below), { withFileTypes: true })
          return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))
        },
        catch: toFault(below || address)
      })
    ).pipe(
      Stream.flatMap((entry) => {
        const path = below === "" ? entry.name : `${below}/${entry.name}`
        if (isIgnored(entry.name)) return Stream.empty
        return entry.isDirectory() ? walk(path) : Stream.fromIterableEffect(itemAt(path))
      })
    )

  const changes = Stream.callback<string, SourceFault>((queue) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const watcher = watch(folder, {
          followSymlinks: false,
          ignoreInitial: true,
          ignored: (path) => isIgnored(relative(folder, path))
        })
        watcher.on("all", (event, path) => {
          if (event === "add" || event === "change" || event === "unlink")
            Queue.offerUnsafe(queue, relative(folder, path).split(sep).join("/"))
        })
        watcher.on("error", (cause) => Queue.failCauseUnsafe(queue, Cause.fail(toFault(address)(cause))))
        return watcher
      }),
      (watcher) => Effect.promise(() => watcher.close())
    )
  ).pipe(
    Stream.groupedWithin(MAX_CHANGES, SETTLE),
    Stream.map((paths) => [...new Set(paths)])
  )
  const itemsAt = (paths: ReadonlyArray<string>) =>
    Effect.forEach(paths, (path) =>
      Effect.map(itemAt(path), ([item]): Item => item ?? { removed: `${name}/${path}` })
    )
  return { items: walk(""), changes, itemsAt }
})

export const folderKind: SourceKind = {
  id: "folder",
  label: "Folder",
  example: "/srv/handbook",
  matches: (address) => !/^[a-z][a-z0-9+.-]*:\/\//i.test(address),
  open
}
