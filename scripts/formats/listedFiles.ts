/** The public files of `files.tsv`: which, from where, with which licence. */
import { readFileSync } from "node:fs"
import { extname, join } from "node:path"

export interface ListedFile {
  readonly format: string
  readonly repository: string
  readonly path: string
  readonly commit: string
  readonly licence: string
  readonly sha256: string
  /** Its name after collection: the start of its SHA-256 with its ending. */
  readonly name: string
  /** Whether the file was kept apart while the parsers were mended: three of ten, by its SHA-256. */
  readonly sealed: boolean
}

export const listedFiles = (): ReadonlyArray<ListedFile> =>
  readFileSync(join(import.meta.dirname, "files.tsv"), "utf8")
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => {
      const [format = "", repository = "", path = "", commit = "", licence = "", sha256 = ""] =
        line.split("\t")
      const name = `${sha256.slice(0, 16)}${extname(path).toLowerCase()}`
      const sealed = Number.parseInt(sha256.slice(0, 6), 16) % 10 < 3
      return { format, repository, path, commit, licence, sha256, name, sealed }
    })
