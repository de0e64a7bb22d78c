/** The list of documents, and uploads. */
import { useState } from "preact/hooks"
import { collection } from "../documents/collections.ts"
import { documents, documentsError, removalError } from "../documents/documents.ts"
import { filesOfPicker } from "../documents/files.ts"
import { uploadFiles } from "../documents/uploads.ts"
import { SearchField } from "../ui/Fields.tsx"
import { counted, matchesSearch } from "../ui/format.ts"
import { ErrorMessage, Loading } from "../ui/Notices.tsx"
import { CollectionsBar } from "./CollectionsBar.tsx"
import { DocumentRow } from "./DocumentRow.tsx"
import { RemoveAll } from "./RemoveAll.tsx"
import { UploadProgress } from "./UploadProgress.tsx"

/** Rows shown at first; a library may hold a hundred thousand documents. */
const PAGE_ROWS = 200
/** More documents than this can be searched. */
const SEARCH_FROM = 12

/** Every browser knows the attribute; the types do not. */
const FOLDER = { webkitdirectory: true }

const onPick = (event: Event) => {
  const input = event.currentTarget as HTMLInputElement
  if (input.files !== null) uploadFiles(filesOfPicker(input.files))
  input.value = "" // The same file may be chosen again.
}

const FilePickers = () => (
  <div class="pickers">
    <label class="button primary">
      Add files
      <input class="unseen" type="file" multiple onChange={onPick} />
    </label>
    <label class="button">
      Add a folder
      <input class="unseen" type="file" {...FOLDER} onChange={onPick} />
    </label>
    <p class="quiet">
      PDF, Word, Markdown, HTML, plain text, and images (PNG, JPEG, WebP). You can also drop files and folders
      anywhere on this page.
    </p>
  </div>
)

export const LibraryView = () => {
  const [search, setSearch] = useState("")
  const [rows, setRows] = useState(PAGE_ROWS)
  const all = documents.value
  const found = (all ?? []).filter(({ path, title }) => matchesSearch(`${title} ${path}`, search))
  const passages = found.reduce((sum, each) => sum + each.passages, 0)
  return (
    <div class="library">
      <h1>Documents</h1>
      <CollectionsBar />
      <FilePickers />
      <UploadProgress />
      <ErrorMessage error={removalError.value ?? documentsError.value} />
      <Loading until={all !== undefined || documentsError.value !== undefined} />
      {all !== undefined && (all.length > SEARCH_FROM || search !== "") && (
        <SearchField
          label="Find a document by name"
          placeholder="Find by name"
          value={search}
          onValue={setSearch}
        />
      )}
      {all?.length === 0 && <p class="lead">Add documents to start.</p>}
      {all !== undefined && all.length > 0 && found.length === 0 && (
        <p class="lead">No matching name. Ask to search inside.</p>
      )}
      {found.length > 0 && (
        <>
          <RemoveAll key={`${collection.value} ${search}`} found={found}>
            {`${counted(found.length, "document")}, ${counted(passages, "passage")}`}
          </RemoveAll>
          <ul class="documents">
            {found.slice(0, rows).map((document) => (
              <DocumentRow key={document.id} document={document} />
            ))}
          </ul>
        </>
      )}
      {found.length > rows && (
        <button class="button" type="button" onClick={() => setRows(rows + PAGE_ROWS)}>
          Show more
        </button>
      )}
    </div>
  )
}
