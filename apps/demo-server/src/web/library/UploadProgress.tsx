/** Uploads: one bar for all files, the files in progress, and those that failed or were not sent. */
import {
  clearUploads,
  describeUploads,
  type FileUpload,
  isFailed,
  isFinished,
  isInProgress,
  isUnsent,
  resendFiles,
  uploads
} from "../documents/uploads.ts"
import { byteSize, counted } from "../ui/format.ts"
import { ProgressBar } from "../ui/Notices.tsx"
import { Scroller } from "../ui/Scroller.tsx"

/** Files shown one by one at most; the bar stands for the rest. */
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
    <span class="said">{upload.state === "unsent" ? "not sent" : upload.state}</span>
    {upload.state === "sending" && (
      <ProgressBar label={`Sending ${upload.path}`} done={upload.sent} total={upload.file.size} />
    )}
    {isFailed(upload) && upload.message !== undefined && <p>{withoutPath(upload.message, upload.path)}</p>}
  </li>
)

export const UploadProgress = () => {
  const { files, running } = uploads.value
  if (files.length === 0) return null
  const failed = files.filter(isFailed)
  const unsent = files.filter(isUnsent)
  const others = files.filter((upload) => !isFailed(upload))
  const rows =
    files.length <= MAX_ROWS ? others : [...unsent, ...others.filter(isInProgress)].slice(0, MAX_ROWS)
  const finished = files.filter(isFinished).length
  return (
    <section class="uploads" aria-label="Uploads">
      <p class="uploads-head">
        <strong>
          {running
            ? `${finished.toLocaleString()} of ${counted(files.length, "file")}` +
              (failed.length > 0 ? `, ${failed.length.toLocaleString()} could not be read` : "")
            : describeUploads(files)}
        </strong>
        {!running && (
          <button class="link" type="button" onClick={clearUploads}>
            Clear
          </button>
        )}
      </p>
      {running && <ProgressBar label="All files" done={finished} total={files.length} />}
      {!running && unsent.length > 0 && (
        <div class="failed" role="alert">
          <p>{unsent[0]?.message}</p>
          <button class="button" type="button" onClick={resendFiles}>
            Send again
          </button>
        </div>
      )}
      <Scroller class="uploads-list" label="Files">
        <ul>
          {[...failed, ...rows].map((upload) => (
            <Row key={`${upload.collection} ${upload.path}`} upload={upload} />
          ))}
        </ul>
      </Scroller>
    </section>
  )
}
