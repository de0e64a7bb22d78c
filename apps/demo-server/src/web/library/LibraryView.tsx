/** The list of documents: uploads, removals, and their undo. */
import { useSignal } from "@preact/signals"
import { useState } from "preact/hooks"
import type { DocumentInfo } from "../../contract/index.ts"
import * as Documents from "../documents/documents.ts"
import { isWritable } from "../documents/collections.tsx"
import { filesOfPicker } from "../documents/files.ts"
import { uploadFiles } from "../documents/uploads.ts"
import { status } from "../page/status.ts"
import { openDocument } from "../source/source.ts"
import { Confirm } from "../ui/ActionForm.tsx"
import { Button, IconButton, LinkButton } from "../ui/Button.tsx"
import { SearchField } from "../ui/Fields.tsx"
import { byteSize, formatLabel, pluralize } from "../ui/format.ts"
import { ErrorMessage, Loading, MessageText, ProgressBar } from "../ui/Notices.tsx"
import { CollectionsBar } from "./CollectionsBar.tsx"
import { JobsSection } from "./JobsSection.tsx"
import { SourcesSection } from "./SourcesSection.tsx"
import { UploadProgress } from "./Uploads.tsx"

const Faults = ({ faults }: { readonly faults: NonNullable<DocumentInfo["faults"]> }) => (
  <details class="faults quiet own-line">
    <summary class="problem">{pluralize(faults.length, "part")} could not be read</summary>
    <ul>
      {faults.map(({ message, page }, at) => (
        <li key={at}>
          {page !== undefined && <b>p. {page} </b>}
          <MessageText text={message} />
        </li>
      ))}
    </ul>
  </details>
)

const figuresText = (count: number): string =>
  count === 1 ? "1 figure or table" : `${count.toLocaleString()} figures and tables`

const DocumentRow = ({ document }: { readonly document: DocumentInfo }) => {
  const { faults = [], figures, pages, title } = document
  return (
    <li>
      <button class="stack open" type="button" onClick={() => openDocument(document)}>
        <span class="title clamped">{title}</span>
        <span class="path">{document.path}</span>
      </button>
      <span class="facts quiet">
        <span class="format">{formatLabel(document.format, status.value?.formats)}</span>
        <span>{pages === undefined ? "" : pluralize(pages, "page")}</span>
        <span>{figures === undefined ? "" : figuresText(figures)}</span>
        <span>{pluralize(document.passages, "passage")}</span>
        <span>{byteSize(document.bytes)}</span>
      </span>
      {isWritable.value && (
        <IconButton label={`Remove ${title}`} sign="×" onClick={() => Documents.removeDocument(document)} />
      )}
      {faults.length > 0 && <Faults faults={faults} />}
    </li>
  )
}

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

const StorageUsed = () => {
  const storage = status.value?.storage
  return storage && <span>{`${byteSize(storage.used)} of ${byteSize(storage.limit)} used.`}</span>
}

const FilePickers = () => (
  <div class="row pickers">
    <label class="button primary">
      Add files
      <input class="visually-hidden" type="file" multiple onChange={onPick} />
    </label>
    <label class="button">
      Add a folder
      <input class="visually-hidden" type="file" {...FOLDER} onChange={onPick} />
    </label>
    <p class="quiet">
      {status.value?.formats.map(({ label }) => label).join(", ")}. You can also drop files and folders
      anywhere on this page. <StorageUsed />
    </p>
  </div>
)

interface RemoveTheseProps {
  readonly label: string
  readonly question: string
  readonly these: ReadonlyArray<DocumentInfo>
}

const RemoveThese = ({ label, question, these }: RemoveTheseProps) => (
  <Confirm
    action="Remove all"
    keep="Keep them"
    onConfirm={() => Documents.removeDocuments(these)}
    opener={{ kind: "link problem", children: label }}
  >
    {question} This can’t be undone.
  </Confirm>
)

const ListHead = ({ found }: { readonly found: ReadonlyArray<DocumentInfo> }) => {
  const now = Documents.removing.value
  const count = pluralize(found.length, "document")
  const samples = found.filter(({ metadata }) => metadata?.["sample"] === true)
  const passages = found.reduce((sum, each) => sum + each.passages, 0)
  if (now !== undefined)
    return (
      <>
        <p class="row ends quiet">
          Removed {now.done.toLocaleString()} of {pluralize(now.total, "document")}
        </p>
        <ProgressBar label="Removing" done={now.done} total={now.total} />
      </>
    )
  return (
    <div class="row ends quiet">
      {count}, {pluralize(passages, "passage")}
      {found.length > 1 && isWritable.value && (
        <RemoveThese
          label={`Remove all ${found.length.toLocaleString()}`}
          question={`Remove the ${count} in this list?`}
          these={found}
        />
      )}
      {samples.length > 0 && samples.length < found.length && isWritable.value && (
        <RemoveThese
          label={`Remove the ${pluralize(samples.length, "sample")}`}
          question={`Remove the ${pluralize(samples.length, "sample document")}?`}
          these={samples}
        />
      )}
    </div>
  )
}

/** Restores removed documents, the latest first. */
export const UndoBar = () => {
  const last = Documents.removed.value.at(-1)
  const more = Documents.removed.value.length - 1
  if (last === undefined) return null
  return (
    <section class="row unbroken card floating undo screen-only" aria-label="Removed document">
      <span>
        Removed <b>{last.document.title}</b>
        {more > 0 && ` and ${more} more`}
      </span>
      <LinkButton aria-disabled={Documents.restoring.value} onClick={Documents.undoRemoval}>
        {Documents.restoring.value ? "Restoring…" : "Undo"}
      </LinkButton>
      <IconButton label="Dismiss" sign="×" onClick={() => (Documents.removed.value = [])} />
    </section>
  )
}

export const LibraryView = () => {
  const search = useSignal("")
  const [rows, setRows] = useState(PAGE_ROWS)
  const all = Documents.documents.value
  const found = Documents.findDocuments(search.value)
  const listError = Documents.documentsError.value
  // The banner reports it.
  const isRebuildNeeded = status.value?.state === "rebuild-needed" && listError?.code === "manifest_mismatch"
  return (
    <div class="stack loose library">
      <h1>Documents</h1>
      <CollectionsBar />
      {isWritable.value ? <FilePickers /> : <p class="quiet">You can read this collection, not change it.</p>}
      {isWritable.value && <SourcesSection />}
      <UploadProgress />
      <JobsSection />
      <ErrorMessage error={Documents.removalError.value ?? (isRebuildNeeded ? undefined : listError)} />
      <Loading until={all !== undefined || listError !== undefined} />
      {all !== undefined && (all.length > SEARCH_FROM || search.value !== "") && (
        <SearchField label="Find a document by name" text={search} />
      )}
      {found.length > 0 && <ListHead found={found} />}
      {found.length === 0 && all !== undefined && (
        <p class="lead">
          {all.length === 0 ? "Add documents to start." : "No matching name. Ask to search inside."}
        </p>
      )}
      <ul class="documents lines closed">
        {found.slice(0, rows).map((document) => (
          <DocumentRow key={document.id} document={document} />
        ))}
      </ul>
      {found.length > rows && <Button onClick={() => setRows(rows + PAGE_ROWS)}>Show more</Button>}
    </div>
  )
}
