/** The files of a library's folder at one moment, while other processes write to it. */
import { constants } from "node:fs"
import { copyFile, mkdir, readdir, rm, stat } from "node:fs/promises"
import { dirname, join, sep } from "node:path"
import { setTimeout } from "node:timers/promises"

/** Listing takes milliseconds; it is repeated if a table changed meanwhile. */
const LIST_ATTEMPTS = 200
const RETRY_MILLIS = 10

/** A table that others refer to is listed after them: what they name is then there. */
const LISTED_FIRST = ["collections.lance", "snapshots.lance"]
const LISTED_LAST = ["files.lance"]

const isMissing = (cause: unknown): boolean => (cause as NodeJS.ErrnoException).code === "ENOENT"

/** Paths of files below a folder, relative to it. */
const filesBelow = async (folder: string): Promise<ReadonlyArray<string>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => join(parentPath.slice(folder.length + 1), name))
}

/** The newest version of a table; undefined before its first. LanceDB's names count down. */
const newestVersion = async (folder: string, table: string): Promise<string | undefined> => {
  const names = await readdir(join(folder, table, "_versions")).catch((cause) => {
    if (isMissing(cause)) return []
    throw cause
  })
  return names.filter((name) => name.endsWith(".manifest")).toSorted()[0]
}

/** The hint is rewritten with each version, and only saves LanceDB a listing. */
const isKept = (path: string) => !/_versions\/(?!\d+\.manifest$)/.test(path)

/** Undefined if the table changed while it was listed: files of its newest version may be missing. */
const tableFiles = async (folder: string, table: string) => {
  const newest = await newestVersion(folder, table)
  if (newest === undefined) return []
  const files = await filesBelow(join(folder, table))
  if ((await newestVersion(folder, table)) !== newest) return undefined
  return files.filter(isKept).map((path) => join(table, path))
}

const listOnce = async (folder: string) => {
  const versions = () => Promise.all(LISTED_FIRST.map((table) => newestVersion(folder, table)))
  const before = await versions()
  const tables = (await readdir(folder)).filter((name) => name.endsWith(".lance"))
  const others = tables.filter((name) => ![...LISTED_FIRST, ...LISTED_LAST].includes(name))
  const files: Array<string> = []
  for (const table of [...LISTED_FIRST, ...others, ...LISTED_LAST].filter((name) => tables.includes(name))) {
    const found = await tableFiles(folder, table)
    if (found === undefined) return undefined
    files.push(...found)
  }
  return String(await versions()) === String(before) ? files : undefined
}

/** Paths of the files that make up the library at one moment. */
export const listLibraryFiles = async (folder: string): Promise<ReadonlyArray<string>> => {
  for (let attempt = 1; ; attempt++) {
    const files = await listOnce(folder).catch((cause) => {
      // A table was dropped.
      if (isMissing(cause)) return undefined
      throw cause
    })
    if (files !== undefined) return files
    if (attempt === LIST_ATTEMPTS) throw new Error("its tables change all the time")
    await setTimeout(RETRY_MILLIS)
  }
}

const sizeOf = (file: string): Promise<number | undefined> =>
  stat(file).then(
    ({ size }) => size,
    () => undefined
  )

/** Data has a name of its own and never changes, except that a writer may not have finished it. */
const isCopied = async (from: string, to: string) =>
  /\/(?:data|_indices)\//.test(from) && (await sizeOf(to)) === (await sizeOf(from))

/** Copies a file unless an earlier call has. False if it was dropped by now. */
export const copyLibraryFile = async (folder: string, target: string, path: string): Promise<boolean> => {
  const [from, to] = [join(folder, path), join(target, path)]
  if (await isCopied(from, to)) return true
  await mkdir(dirname(to), { recursive: true })
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE)
    return true
  } catch (cause) {
    if (isMissing(cause) && (await sizeOf(from)) === undefined) return false
    throw cause
  }
}

/** Removes what earlier calls copied and was dropped since. */
export const keepLibraryFiles = async (target: string, files: ReadonlyArray<string>): Promise<void> => {
  const kept = new Set(files)
  const tables = new Set(files.map((path) => path.split(sep)[0]))
  for (const name of await readdir(target))
    // LanceDB takes an empty folder for a damaged table.
    if (!tables.has(name)) await rm(join(target, name), { recursive: true })
  for (const path of await filesBelow(target)) if (!kept.has(path)) await rm(join(target, path))
}
