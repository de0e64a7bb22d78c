/** Removes all documents of the list at once, after a second look. */
import { useState } from "preact/hooks"
import type { DocumentInfo } from "../../contract/index.ts"
import { counted } from "../ui/counted.ts"
import { removeDocuments, removing } from "../documents/documents.ts"
import { Confirm } from "../ui/Confirm.tsx"
import { Meter } from "../ui/Meter.tsx"

interface Props {
  readonly found: ReadonlyArray<DocumentInfo>
  /** What the list says of itself. */
  readonly children: string
}

export const RemoveFound = ({ children, found }: Props) => {
  const [asking, setAsking] = useState(false)
  const now = removing.value
  const what = counted(found.length, "document")
  return (
    <>
      <p class="found quiet">
        {now === undefined
          ? children
          : `Removing ${now.done.toLocaleString()} of ${counted(now.total, "document")}`}
        {found.length > 1 && now === undefined && (
          <button
            class="link trouble-link"
            type="button"
            aria-expanded={asking}
            onClick={() => setAsking(!asking)}
          >
            Remove all {found.length.toLocaleString()}
          </button>
        )}
      </p>
      {now !== undefined && <Meter label="Removing" done={now.done} total={now.total} />}
      {asking && (
        <Confirm
          label={`Remove ${what}?`}
          action="Remove for good"
          keep="Keep them"
          onSure={() => removeDocuments(found)}
          onDone={() => setAsking(false)}
        >
          Remove the {what} of this list? Nobody can bring them back.
        </Confirm>
      )}
    </>
  )
}
