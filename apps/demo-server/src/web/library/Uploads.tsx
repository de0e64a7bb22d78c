/** Uploads: files dropped on the page, and their progress. */
import { useEffect, useState } from "preact/hooks"
import { filesOfDrop } from "../documents/files.ts"
import type { FileUpload } from "../documents/FileUpload.ts"
import * as Uploads from "../documents/uploads.ts"
import { navigate } from "../page/route.ts"
import { Button, IconButton, LinkButton } from "../ui/Button.tsx"
import { byteSize, pluralize } from "../ui/format.ts"
import { MessageText, ProgressBar } from "../ui/Notices.tsx"
import { Scroller } from "../ui/DataTable.tsx"

export const DropZone = () => {
  const [over, setOver] = useState(false)
  useEffect(() => {
    const stop = new AbortController()
    const onDrag = async (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return
      event.preventDefault()
      // Without a related target the pointer leaves the window, not just an element.
      const leaves = event.type === "dragleave" && event.relatedTarget === null
      setOver(event.type !== "drop" && !leaves)
      if (event.type !== "drop") return
      const files = await filesOfDrop(event.dataTransfer)
      Uploads.uploadFiles(files)
      if (files.length > 0) navigate("#documents")
    }
    const events = ["dragenter", "dragover", "dragleave", "drop"] as const
    for (const type of events) window.addEventListener(type, onDrag, { signal: stop.signal })
    return () => stop.abort()
  }, [])
  return over ? (
    <div class="drop" aria-hidden="true">
      <p>Drop to add</p>
    </div>
  ) : null
}

/** The most files in the list. The progress bar counts them all. */
const MAX_ROWS = 8

/** Leaves the path out of a message: it is shown above. */
const withoutPath = (message: string, path: string): string => {
  const reason = message.startsWith(path) ? `It${message.slice(path.length)}`.replace(/^It: /, "") : message
  return reason.charAt(0).toUpperCase() + reason.slice(1)
}

const Row = ({ upload }: { readonly upload: FileUpload }) => (
  <li data-state={upload.state}>
    <span class="path">{upload.path}</span>
    <span class="quiet">{byteSize(upload.file.size)}</span>
    <span class="upload-state">
      {upload.state === "unsent" ? "not sent" : upload.state}
      {upload.state === "reading" && upload.scan && ` page ${upload.scan.done} of ${upload.scan.pages}`}
      {!Uploads.isFinished(upload) && (
        <IconButton
          label={`Cancel ${upload.path}`}
          sign="×"
          onClick={() => Uploads.cancelUploads([upload])}
        />
      )}
    </span>
    {Uploads.isInProgress(upload) && (
      <ProgressBar
        label={`${upload.state === "sending" ? "Sending" : "Reading"} ${upload.path}`}
        done={upload.state === "sending" ? upload.sent : (upload.scan?.done ?? 0)}
        total={upload.state === "sending" ? upload.file.size : (upload.scan?.pages ?? 0)}
      />
    )}
    {Uploads.isFailed(upload) && upload.message !== undefined && (
      <p>
        <MessageText text={withoutPath(upload.message, upload.path)} />
      </p>
    )}
  </li>
)

export const UploadProgress = () => {
  const { files, running } = Uploads.uploads.value
  if (files.length === 0) return null
  const failed = files.filter(Uploads.isFailed)
  const unsent = files.filter(Uploads.isUnsent)
  const others = files.filter((upload) => !Uploads.isFailed(upload))
  const rows =
    files.length <= MAX_ROWS ? others : [...unsent, ...others.filter(Uploads.isInProgress)].slice(0, MAX_ROWS)
  const finished = files.filter(Uploads.isFinished).length
  return (
    <section class="stack card entries uploads" aria-label="Uploads">
      <p class="row baseline ends uploads-head">
        <strong>
          {running && `${finished.toLocaleString()} of ${pluralize(files.length, "file")}: `}
          {Uploads.describeUploads(files)}
        </strong>
        {running ? (
          <LinkButton onClick={() => Uploads.cancelUploads(files)}>Cancel all</LinkButton>
        ) : (
          <LinkButton onClick={Uploads.clearUploads}>Clear</LinkButton>
        )}
      </p>
      {running && <ProgressBar label="All files" done={finished} total={files.length} />}
      {!running && unsent.length > 0 && (
        <div class="failed" role="alert">
          <p>
            <MessageText text={unsent[0]?.message} />
          </p>
          <Button onClick={Uploads.resendFiles}>Send again</Button>
        </div>
      )}
      <Scroller class="uploads-list" label="Files">
        <ul class="lines">
          {[...failed, ...rows].map((upload) => (
            <Row key={`${upload.collection} ${upload.path}`} upload={upload} />
          ))}
        </ul>
      </Scroller>
    </section>
  )
}
