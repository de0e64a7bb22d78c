/** Files that could not be read, and why. */
import type { FailedFile } from "../../contract/Documents.ts"
import { pluralize } from "../ui/format.ts"

export const FailedFiles = ({
  failed,
  unlisted = 0
}: {
  readonly failed: ReadonlyArray<FailedFile>
  readonly unlisted?: number | undefined
}) =>
  failed.length === 0 ? null : (
    <details class="faults quiet own-line">
      <summary class="problem">{pluralize(failed.length + unlisted, "file")} failed</summary>
      <ul>
        {failed.map(({ message, path }) => (
          <li key={path}>{message.includes(path) ? message : `${path}: ${message}`}</li>
        ))}
        {unlisted > 0 && <li>{pluralize(unlisted, "more file")} failed. They are not listed.</li>}
      </ul>
    </details>
  )
