/** The registry of kinds of sources. The first that matches an address is its kind. */
import { folderKind } from "./Folder.ts"
import { gitKind } from "./Git.ts"
import { s3Kind } from "./S3.ts"
import type { SourceKind } from "./SourceKind.ts"
import { webKind } from "./Web.ts"

export const sourceKinds: ReadonlyArray<SourceKind> = [gitKind, s3Kind, webKind, folderKind]

/** Says that `sourceKind` found none. */
export const unknownKind = (address: string, id?: string): string =>
  id === undefined
    ? `${address} is not an address of a source, such as ${sourceKinds.map(({ example }) => example).join(", ")}`
    : `There is no kind of source ${id}. GET /sources lists the kinds`

/** The kind of that identifier, or without one, that of the address. */
export const sourceKind = (address: string, id?: string): SourceKind | undefined =>
  sourceKinds.find((kind) => (id === undefined ? kind.matches(address) : kind.id === id))
