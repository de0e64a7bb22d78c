/** Files that could not be read, and why. */
import type { FailedFile } from "../../contract/Documents.ts"
import { pluralize } from "../ui/format.ts"

export const FailedFiles = ({ failed }: { readonly failed: ReadonlyArray<FailedFile> }) =>
  failed.length === 0 ? null : (
    <details class="faults quiet">
      <summary>{pluralize(failed.length, "file")} failed</summary>
      <ul>
        {failed.map(({ message, path }) => (
          <li key={path}>{message.includes(path) ? message : `${path}: ${message}`}</li>
        ))}
      </ul>
    </details>
  )
