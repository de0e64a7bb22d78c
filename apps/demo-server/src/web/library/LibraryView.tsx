/** The documents: what is there, what is on its way, what could not be read. */
import { useState } from "preact/hooks"
import { collection } from "../documents/collections.ts"
import { counted } from "../ui/counted.ts"
import { documents, libraryFailure, removalFailure } from "../documents/documents.ts"
import { Collections } from "./CollectionsBar.tsx"
import { DocumentRow } from "./DocumentRow.tsx"
import { FilePickers } from "./FilePickers.tsx"
import { Loading } from "../ui/Loading.tsx"
import { RemoveFound } from "./RemoveAll.tsx"
import { UploadProgress } from "./UploadProgress.tsx"
import { Problem } from "../ui/Problem.tsx"

/** More rows than this are shown on demand: a library may hold a hundred thousand. */
const ROWS = 200
const FILTER_FROM = 12

export const LibraryView = () => {
  const [filter, setFilter] = useState("")
  const [rows, setRows] = useState(ROWS)
  const all = documents.value
  const words = filter.toLowerCase().split(/\s+/)
  const found = (all ?? []).filter(({ path, title }) => {
    const where = `${title} ${path}`.toLowerCase()
    return words.every((word) => where.includes(word))
  })
  const passages = found.reduce((sum, each) => sum + each.passages, 0)
  return (
    <div class="library">
      <h1>Documents</h1>
      <Collections />
      <FilePickers />
      <UploadProgress />
      <Problem failure={removalFailure.value ?? libraryFailure.value} />
      <Loading until={all !== undefined || libraryFailure.value !== undefined} />
      {all !== undefined && (all.length > FILTER_FROM || filter !== "") && (
        <label class="filter">
          <span class="unseen">Find a document by name</span>
          <input
            type="search"
            placeholder="Find by name"
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        </label>
      )}
      {all?.length === 0 && (
        <p class="lead">Nothing here yet. Everything asked is answered from what you add.</p>
      )}
      {all !== undefined && all.length > 0 && found.length === 0 && (
        <p class="lead">No document here is named so. What stands in documents is found by asking.</p>
      )}
      {found.length > 0 && (
        <>
          <RemoveFound key={`${collection.value} ${filter}`} found={found}>
            {`${counted(found.length, "document")}, ${counted(passages, "passage")}`}
          </RemoveFound>
          <ul class="documents">
            {found.slice(0, rows).map((document) => (
              <DocumentRow key={document.id} document={document} />
            ))}
          </ul>
        </>
      )}
      {found.length > rows && (
        <button class="button" type="button" onClick={() => setRows(rows + ROWS)}>
          Show more
        </button>
      )}
    </div>
  )
}
