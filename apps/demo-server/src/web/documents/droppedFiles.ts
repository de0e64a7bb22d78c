/** Files from a drop or a picker, whole folders included, each with its path from the folder down. */
import type { PathedFile } from "../api/sendFiles.ts"

/** Hidden files (`.DS_Store`, `.git/…`) are never what a person means by a folder of documents. */
const isHidden = (path: string): boolean => path.split("/").some((part) => part.startsWith("."))

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject))

/** A directory reader gives at most 100 entries a time; an empty answer is the end. */
const entriesOf = async (entry: FileSystemDirectoryEntry): Promise<Array<FileSystemEntry>> => {
  const reader = entry.createReader()
  const all: Array<FileSystemEntry> = []
  for (;;) {
    const some = await new Promise<Array<FileSystemEntry>>((resolve, reject) =>
      reader.readEntries(resolve, reject)
    )
    if (some.length === 0) return all
    all.push(...some)
  }
}

const walk = async (entry: FileSystemEntry): Promise<Array<PathedFile>> => {
  const path = entry.fullPath.replace(/^\//, "")
  if (isHidden(path)) return []
  if (entry.isFile) return [{ path, file: await fileOf(entry as FileSystemFileEntry) }]
  const below = await entriesOf(entry as FileSystemDirectoryEntry)
  return (await Promise.all(below.map(walk))).flat()
}

/** What has no entry (a picture out of another window) is still a file. */
const loose = (item: DataTransferItem): Array<PathedFile> => {
  const file = item.getAsFile()
  return file === null ? [] : [{ path: file.name, file }]
}

/** Items must be taken before the first await: the drop's data is gone afterwards. */
export const droppedFiles = async (data: DataTransfer): Promise<Array<PathedFile>> => {
  const taken = [...data.items].map((item) => {
    const entry = item.webkitGetAsEntry()
    return entry === null ? loose(item) : walk(entry)
  })
  return (await Promise.all(taken)).flat()
}

export const pickedFiles = (list: FileList): Array<PathedFile> =>
  [...list]
    .map((file) => ({ path: file.webkitRelativePath || file.name, file }))
    .filter(({ path }) => !isHidden(path))
