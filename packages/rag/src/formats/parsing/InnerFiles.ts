/** Parses the files inside a file: attachments, and files of archives. */
import { Effect } from "effect"
import { firstFaults, type ReadFault } from "../../document/Document.ts"
import { type DocumentFile, type InnerFile, parseError } from "./DocumentFormat.ts"
import type { DocumentPart } from "./JoinDocuments.ts"

/** Files of one file. Each is parsed on its own. */
export const MAX_INNER_FILES = 1_000
/** Faults that are reported individually. */
const MAX_FAULTS = 50

/** The first faults. `things` are the parts that were left out. */
export const capFaults = (faults: ReadonlyArray<ReadFault>, things: string): ReadonlyArray<ReadFault> =>
  firstFaults(faults, MAX_FAULTS, `${things} were left out`)

export interface Inner extends Omit<DocumentPart, "parsed"> {
  /** Reads the file when its turn comes. */
  readonly file: Effect.Effect<InnerFile, ReadFault>
}

/** Parses each file by its format. One that cannot be parsed is a fault, and the others are parsed. */
export const parseInnerFiles = Effect.fnUntraced(function* (
  { parseInner, path }: DocumentFile,
  files: ReadonlyArray<Inner>
) {
  const parts: Array<DocumentPart> = []
  const faults: Array<ReadFault> = []
  for (const { file, ...part } of files.slice(0, MAX_INNER_FILES)) {
    yield* file.pipe(
      Effect.flatMap((inner) =>
        parseInner === undefined
          ? Effect.fail(parseError(path, "Internal", "files inside it are not parsed here."))
          : parseInner(inner)
      ),
      Effect.match({
        onSuccess: (parsed) => void parts.push({ ...part, parsed }),
        onFailure: ({ message }) => void faults.push({ message: `${part.label} was left out. ${message}` })
      })
    )
  }
  const count = files.length - MAX_INNER_FILES
  const over =
    count > 0 ? [{ message: `${count} files were left out: the limit is ${MAX_INNER_FILES}. Split it.` }] : []
  return { parts, faults: [...capFaults(faults, "files"), ...over] }
})
