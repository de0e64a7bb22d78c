/** Removes all documents of the list, after confirmation. */
import { useState } from "preact/hooks"
import type { DocumentInfo } from "../../contract/index.ts"
import { removeDocuments, removing } from "../documents/documents.ts"
import { Confirm } from "../ui/Confirm.tsx"
import { counted } from "../ui/format.ts"
import { ProgressBar } from "../ui/Notices.tsx"

interface Props {
  readonly found: ReadonlyArray<DocumentInfo>
  /** The size of the list. */
  readonly children: string
}

export const RemoveAll = ({ children, found }: Props) => {
  const [confirming, setConfirming] = useState(false)
  const now = removing.value
  const what = counted(found.length, "document")
  return (
    <>
      <p class="found quiet">
        {now === undefined
          ? children
          : `Removed ${now.done.toLocaleString()} of ${counted(now.total, "document")}`}
        {found.length > 1 && now === undefined && (
          <button
            class="link trouble-link"
            type="button"
            aria-expanded={confirming}
            onClick={() => setConfirming(!confirming)}
          >
            Remove all {found.length.toLocaleString()}
          </button>
        )}
      </p>
      {now !== undefined && <ProgressBar label="Removing" done={now.done} total={now.total} />}
      {confirming && (
        <Confirm
          label={`Remove ${what}?`}
          action="Remove all"
          keep="Keep them"
          onConfirm={() => removeDocuments(found)}
          onDone={() => setConfirming(false)}
        >
          Remove the {what} in this list? This can’t be undone.
        </Confirm>
      )}
    </>
  )
}
