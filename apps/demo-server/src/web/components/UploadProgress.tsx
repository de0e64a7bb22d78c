/** Files on their way: all of them as one bar, those that move now one by one, and those that failed with why. */
import { counted } from "../state/counted.ts"
import { clearUploads, uploads, type Upload } from "../state/uploads.ts"
import { byteSize } from "./byteSize.ts"
import { Meter } from "./Meter.tsx"

/** So many single files are shown; the bar stands for the rest. */
const SHOWN = 8

const SAID: Record<Upload["state"], string> = {
  waiting: "waiting",
  sending: "sending",
  reading: "reading",
  added: "added",
  replaced: "replaced",
  unchanged: "unchanged",
  failed: "failed"
}

const isDone = ({ state }: Upload): boolean =>
  state !== "waiting" && state !== "sending" && state !== "reading"

/** What a finished upload came to; says nothing of the rest of the library. */
const summary = (read: number, failed: number): string => {
  if (failed === 0) return `${counted(read, "file")} read`
  if (read === 0) return `${counted(failed, "file")} could not be read`
  return `${counted(read, "file")} read, ${failed.toLocaleString()} could not be`
}

/** The path stands above it. */
const reasonOf = (message: string, path: string): string => {
  const reason = message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message
  return reason.charAt(0).toUpperCase() + reason.slice(1)
}

const Row = ({ upload }: { readonly upload: Upload }) => (
  <li data-state={upload.state}>
    <span class="path">{upload.path}</span>
    <span class="quiet">{byteSize(upload.file.size)}</span>
    <span class="said">{SAID[upload.state]}</span>
    {upload.state === "sending" && (
      <Meter label={`Sending ${upload.path}`} done={upload.sent} total={upload.file.size} />
    )}
    {upload.message !== undefined && <p>{reasonOf(upload.message, upload.path)}</p>}
  </li>
)

export const UploadProgress = () => {
  const { files, running } = uploads.value
  if (files.length === 0) return null
  const failed = files.filter(({ state }) => state === "failed")
  const rest = files.filter(({ state }) => state !== "failed")
  const moving = rest.filter((upload) => !isDone(upload) && upload.state !== "waiting")
  const single = files.length <= SHOWN ? rest : moving.slice(0, SHOWN)
  const done = files.filter(isDone).length
  return (
    <section class="uploads" aria-label="Files on their way">
      <p class="uploads-head">
        <strong>
          {running
            ? `${done.toLocaleString()} of ${counted(files.length, "file")}` +
              (failed.length > 0 ? `, ${failed.length.toLocaleString()} could not be read` : "")
            : summary(rest.length, failed.length)}
        </strong>
        {!running && (
          <button class="link" type="button" onClick={clearUploads}>
            Clear
          </button>
        )}
      </p>
      {running && <Meter label="All files" done={done} total={files.length} />}
      <ul>
        {failed.map((upload) => (
          <Row key={upload.path} upload={upload} />
        ))}
        {single.map((upload) => (
          <Row key={upload.path} upload={upload} />
        ))}
      </ul>
    </section>
  )
}
