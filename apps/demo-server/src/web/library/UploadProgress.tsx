/** Files on their way: all of them as one bar, those that move now one by one, and what failed or was not sent. */
import { counted } from "../ui/counted.ts"
import {
  clearUploads,
  isDone,
  isFailed,
  isMoving,
  isUnsent,
  outcome,
  sendAgain,
  type Upload,
  uploads
} from "../documents/uploads.ts"
import { byteSize } from "../ui/byteSize.ts"
import { Meter } from "../ui/Meter.tsx"
import { Scroller } from "../ui/Scroller.tsx"

/** So many single files are shown; the bar stands for the rest. */
const SHOWN = 8

/** The path stands above it. */
const reasonOf = (message: string, path: string): string => {
  const reason = message.startsWith(path) ? `It${message.slice(path.length)}`.replace(/^It: /, "") : message
  return reason.charAt(0).toUpperCase() + reason.slice(1)
}

const Row = ({ upload }: { readonly upload: Upload }) => (
  <li data-state={upload.state}>
    <span class="path">{upload.path}</span>
    <span class="quiet">{byteSize(upload.file.size)}</span>
    <span class="said">{upload.state === "unsent" ? "not sent" : upload.state}</span>
    {upload.state === "sending" && (
      <Meter label={`Sending ${upload.path}`} done={upload.sent} total={upload.file.size} />
    )}
    {isFailed(upload) && upload.message !== undefined && <p>{reasonOf(upload.message, upload.path)}</p>}
  </li>
)

/** Why files were not sent, once for all of them; they are kept, and sent again when that is wanted. */
const Unsent = ({ files }: { readonly files: ReadonlyArray<Upload> }) => (
  <div class="failed" role="alert">
    <p>{files[0]?.message}</p>
    <button class="button" type="button" onClick={sendAgain}>
      Send again
    </button>
  </div>
)

export const UploadProgress = () => {
  const { files, running } = uploads.value
  if (files.length === 0) return null
  const told = files.filter(isFailed)
  const unsent = files.filter(isUnsent)
  const rest = files.filter((upload) => !isFailed(upload))
  const single = files.length <= SHOWN ? rest : [...unsent, ...rest.filter(isMoving)].slice(0, SHOWN)
  const done = files.filter(isDone).length
  return (
    <section class="uploads" aria-label="Files on their way">
      <p class="uploads-head">
        <strong>
          {running
            ? `${done.toLocaleString()} of ${counted(files.length, "file")}` +
              (told.length > 0 ? `, ${told.length.toLocaleString()} could not be read` : "")
            : outcome(files)}
        </strong>
        {!running && (
          <button class="link" type="button" onClick={clearUploads}>
            Clear
          </button>
        )}
      </p>
      {running && <Meter label="All files" done={done} total={files.length} />}
      {!running && unsent.length > 0 && <Unsent files={unsent} />}
      <Scroller class="uploads-list" label="Files one by one">
        <ul>
          {[...told, ...single].map((upload) => (
            <Row key={`${upload.collection} ${upload.path}`} upload={upload} />
          ))}
        </ul>
      </Scroller>
    </section>
  )
}
