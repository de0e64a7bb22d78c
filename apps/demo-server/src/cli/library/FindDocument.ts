/** Finds the document that a typed path means. */
import { type LibraryService, type DocumentInfo, RagError } from "@sluice/rag"
import { Effect } from "effect"

type NamedDocument = Pick<DocumentInfo, "id" | "path">

const MAX_CANDIDATES = 5

/** PATH_MAX on Linux, and more than other systems allow. */
const MAX_PATH_LENGTH = 4_096

/** Dice coefficient of letter pairs, 0 to 1. File names below it are not suggested. */
const MIN_SIMILARITY = 0.4

const normalize = (path: string): string =>
  path
    .normalize("NFC")
    .replaceAll("\\", "/")
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/")

/**
 * Matches an identifier or a path exactly; then a path that ends in the typed one (`gates.md` finds
 * `handbook/gates.md`); then the longest path that ends the typed one (`/home/me/docs/gates.md` finds `gates.md`).
 * Upper and lower case count only where two paths differ in nothing else. Without one match, `candidates` are the possible
 * ones, the most similar first.
 */
export const findDocument = <D extends NamedDocument>(
  documents: ReadonlyArray<D>,
  name: string
): { readonly document?: D; readonly candidates: ReadonlyArray<D> } => {
  const exact = documents.find(({ id, path }) => id === name || path === name)
  if (exact !== undefined) return { document: exact, candidates: [] }
  const typed = normalize(name.slice(0, MAX_PATH_LENGTH))
  if (typed === "") return { candidates: [] }
  for (const fold of [(path: string) => path, (path: string) => path.toLowerCase()]) {
    const wanted = fold(typed)
    const pathOf = (document: D) => fold(normalize(document.path))
    const shorter = documents.filter((document) => `/${wanted}`.endsWith(`/${pathOf(document)}`))
    const longest = Math.max(0, ...shorter.map((document) => pathOf(document).length))
    const matches = [
      documents.filter((document) => pathOf(document) === wanted),
      documents.filter((document) => pathOf(document).endsWith(`/${wanted}`)),
      shorter.filter((document) => pathOf(document).length === longest)
    ].find(({ length }) => length > 0)
    if (matches?.length === 1) return { document: matches[0]!, candidates: [] }
    if (matches !== undefined) return { candidates: matches.slice(0, MAX_CANDIDATES) }
  }
  const similar = mostSimilar(fileName(typed), documents, ({ path }) => fileName(normalize(path)))
  return { candidates: similar.slice(0, MAX_CANDIDATES) }
}

/** The identifier of the document that `name` means. Fails with `NotFound` when none or several match. */
export const resolveDocument = Effect.fn("cli.resolveDocument")(function* (
  library: LibraryService,
  name: string
) {
  const { candidates, document } = findDocument(yield* library.documents, name)
  if (document !== undefined) return document.id
  const paths = candidates.map(({ path }) => path).join(", ")
  const message =
    paths === ""
      ? `The library has no document ${name}. Ingest it, or correct the path.`
      : `No single match for ${name}. Did you mean one of these: ${paths}? If not, ingest it.`
  return yield* new RagError({ stage: "retrieve", reason: "NotFound", message, document: name })
})

/** Fails with `NotFound` for the first of `--document` that the library lacks: a path, an identifier, or a folder with `/`. */
export const requireNamedDocuments = Effect.fn("cli.requireNamedDocuments")(function* (
  library: LibraryService,
  names: ReadonlyArray<string>
) {
  const documents = yield* library.documents
  const isKnown = (name: string) =>
    documents.some(
      ({ id, path }) => id === name || path === name || (name.endsWith("/") && path.startsWith(name))
    )
  const name = names.find((one) => !isKnown(one))
  if (name === undefined || documents.length === 0) return
  const { candidates, document } = findDocument(documents, name)
  const paths = [...(document === undefined ? [] : [document]), ...candidates].map(({ path }) => path)
  const advice = paths.length === 0 ? "Ingest it, or correct the path" : `Did you mean ${paths.join(" or ")}?`
  const message = `--document ${name} is not in the library. ${advice}`
  return yield* new RagError({ stage: "retrieve", reason: "NotFound", message, document: name })
})

const fileName = (path: string): string => path.slice(path.lastIndexOf("/") + 1).toLowerCase()

/** Those whose name is similar to a typed one in lower case, the most similar first. */
export const mostSimilar = <A>(
  typed: string,
  named: ReadonlyArray<A>,
  nameOf: (one: A) => string
): ReadonlyArray<A> =>
  named
    .map((one) => ({ one, score: similarity(typed, nameOf(one)) }))
    .filter(({ score }) => score >= MIN_SIMILARITY)
    .toSorted((a, b) => b.score - a.score)
    .map(({ one }) => one)

const letterPairs = (text: string): ReadonlySet<string> =>
  new Set(Array.from({ length: text.length + 1 }, (_, i) => ` ${text} `.slice(i, i + 2)))

const similarity = (a: string, b: string): number => {
  const [left, right] = [letterPairs(a), letterPairs(b)]
  return (2 * left.intersection(right).size) / (left.size + right.size || 1)
}
