/** A part of a list of documents. */
import type { DocumentInfo } from "@sluice/rag"

interface DocumentQuery {
  /** The `next` of the previous page. */
  readonly after?: string | undefined
  readonly limit: number
  /** Only documents whose path or title contains it. */
  readonly text?: string | undefined
}

/** The page of a list in the order of paths; `total` counts the documents that match. */
export const documentPage = (
  all: ReadonlyArray<DocumentInfo>,
  { after = "", limit, text = "" }: DocumentQuery
) => {
  const wanted = text.toLowerCase()
  const matching =
    wanted === "" ? all : all.filter(({ path, title }) => `${path}\n${title}`.toLowerCase().includes(wanted))
  const rest = after === "" ? matching : matching.filter(({ path }) => path > after)
  const documents = rest.slice(0, limit)
  const last = rest.length > limit ? documents.at(-1) : undefined
  return { documents, total: matching.length, ...(last !== undefined && { next: last.path }) }
}
