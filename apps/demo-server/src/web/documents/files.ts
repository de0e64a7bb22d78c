/** The files of a drop or a file picker, with those in folders. Each file keeps its path in the folder. */
import type { PathedFile } from "../api/sendFiles.ts"

/** Hidden files (`.DS_Store`, `.git/…`) are left out. */
const isHidden = (path: string): boolean => path.split("/").some((part) => part.startsWith("."))

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject))

/** A directory reader returns at most 100 entries at a time, and none at the end. */
const entriesOf = async (reader: FileSystemDirectoryReader): Promise<Array<FileSystemEntry>> => {
  const some = await new Promise<Array<FileSystemEntry>>((resolve, reject) =>
    reader.readEntries(resolve, reject)
  )
  return some.length === 0 ? [] : [...some, ...(await entriesOf(reader))]
}

const walk = async (entry: FileSystemEntry): Promise<Array<PathedFile>> => {
  const path = entry.fullPath.replace(/^\//, "")
  if (isHidden(path)) return []
  if (entry.isFile) return [{ path, file: await fileOf(entry as FileSystemFileEntry) }]
  const children = await entriesOf((entry as FileSystemDirectoryEntry).createReader())
  return (await Promise.all(children.map(walk))).flat()
}

/** An item without an entry, such as a picture dragged from another window, is still a file. */
const withoutEntry = (item: DataTransferItem): Array<PathedFile> => {
  const file = item.getAsFile()
  return file === null ? [] : [{ path: file.name, file }]
}

/** Reads the items before the first await: afterwards the drop's data is gone. */
export const filesOfDrop = async (data: DataTransfer): Promise<Array<PathedFile>> => {
  const items = [...data.items].map((item) => {
    const entry = item.webkitGetAsEntry()
    return entry === null ? withoutEntry(item) : walk(entry)
  })
  return (await Promise.all(items)).flat()
}

export const filesOfPicker = (list: FileList): Array<PathedFile> =>
  [...list]
    .map((file) => ({ path: file.webkitRelativePath || file.name, file }))
    .filter(({ path }) => !isHidden(path))
