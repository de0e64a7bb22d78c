/** Which document a user means who types a path, or a part of one. */
import type { DocumentInfo } from "@sluice/rag"

type Named = Pick<DocumentInfo, "id" | "path">

/** The document meant; where none or several may be, those that it could be, the likeliest first. */
export interface Meant<D extends Named> {
  readonly document?: D
  readonly near: ReadonlyArray<D>
}

/** Documents that a message names. */
const NEAR = 5

/** Characters of a path, at most, on every system. */
const LONGEST = 4_096

/** Words less alike than this are others. */
const ALIKE = 0.4

const normal = (path: string): string =>
  path
    .normalize("NFC")
    .replaceAll("\\", "/")
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/")

/**
 * By identifier or path; then by what ends alike at a slash: `docs/gates.md` or an absolute path means `gates.md`, of
 * several the longest, and `gates.md` means `handbook/gates.md` where no other ends so. Letters' case counts only where
 * two differ in it.
 */
export const namedDocument = <D extends Named>(documents: ReadonlyArray<D>, named: string): Meant<D> => {
  const exact = documents.find(({ id, path }) => id === named || path === named)
  if (exact !== undefined) return { document: exact, near: [] }
  const typed = normal(named.slice(0, LONGEST))
  if (typed === "") return { near: [] }
  for (const as of [(path: string) => path, (path: string) => path.toLowerCase()]) {
    const wanted = as(typed)
    const same = documents.filter(({ path }) => as(normal(path)) === wanted)
    if (same.length === 1) return { document: same[0]!, near: [] }
    const ends = (path: string, end: string) => path === end || path.endsWith(`/${end}`)
    const within = documents.filter(({ path }) => ends(as(normal(path)), wanted))
    const around = documents.filter(({ path }) => ends(wanted, as(normal(path))))
    const longest = Math.max(0, ...around.map(({ path }) => normal(path).length))
    const found = within.length > 0 ? within : around.filter(({ path }) => normal(path).length === longest)
    if (found.length === 1) return { document: found[0]!, near: [] }
    if (found.length > 1) return { near: found.slice(0, NEAR) }
  }
  const near = documents
    .map((document) => ({ document, alike: alike(last(typed), last(normal(document.path))) }))
    .filter((one) => one.alike >= ALIKE)
    .toSorted((a, b) => b.alike - a.alike)
  return { near: near.slice(0, NEAR).map(({ document }) => document) }
}

const last = (path: string): string => path.slice(path.lastIndexOf("/") + 1).toLowerCase()

const pairsOf = (text: string): ReadonlySet<string> =>
  new Set(Array.from({ length: text.length + 1 }, (_, i) => ` ${text} `.slice(i, i + 2)))

/** Pairs of letters in common, of all: 0 to 1. */
const alike = (a: string, b: string): number => {
  const [left, right] = [pairsOf(a), pairsOf(b)]
  return (2 * left.intersection(right).size) / (left.size + right.size || 1)
}
