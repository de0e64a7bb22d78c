/** The files of a drop or a file picker, with those in folders. Each file keeps its path in the folder. */
import type { PathedFile } from "../api/sendFiles.ts"

/** Hidden files, such as `.git/…` and the `~$plan.docx` of an open document, are left out. */
const isHidden = (path: string): boolean => /(?:^|\/)(?:\.|~\$|thumbs\.db$|desktop\.ini$)/i.test(path)

/** A directory reader returns at most 100 entries at a time, and none at the end. */
const entriesOf = async (reader: FileSystemDirectoryReader): Promise<Array<FileSystemEntry>> => {
  const some = await new Promise<Array<FileSystemEntry>>((...done) => reader.readEntries(...done))
  return some.length === 0 ? [] : [...some, ...(await entriesOf(reader))]
}

const walk = async (entry: FileSystemEntry): Promise<Array<PathedFile>> => {
  const path = entry.fullPath.replace(/^\//, "")
  if (isHidden(path)) return []
  if (entry.isFile) {
    const file = await new Promise<File>((...done) => (entry as FileSystemFileEntry).file(...done))
    return [{ path, file }]
  }
  const children = await entriesOf((entry as FileSystemDirectoryEntry).createReader())
  return (await Promise.all(children.map(walk))).flat()
}

/** Reads the items before the first await: afterwards the drop's data is gone. */
export const filesOfDrop = async (data: DataTransfer): Promise<Array<PathedFile>> => {
  const items = [...data.items].map((item) => {
    const entry = item.webkitGetAsEntry()
    // An item without an entry, such as a picture dragged from another window, may still be a file.
    const file = item.getAsFile()
    if (entry !== null) return walk(entry)
    return file === null ? [] : [{ path: file.name, file }]
  })
  return (await Promise.all(items)).flat()
}

export const filesOfPicker = (list: FileList): Array<PathedFile> =>
  [...list]
    .map((file) => ({ path: file.webkitRelativePath || file.name, file }))
    .filter(({ path }) => !isHidden(path))
