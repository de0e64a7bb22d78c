/** Removes documents, and restores them. */
import { useState } from "preact/hooks"
import type { DocumentInfo } from "../../contract/index.ts"
import { removed, removeDocuments, removing, restoring, undoRemoval } from "../documents/documents.ts"
import { Confirm } from "../ui/ActionForm.tsx"
import { pluralize } from "../ui/format.ts"
import { Button, IconButton, LinkButton } from "../ui/Button.tsx"
import { ProgressBar } from "../ui/Notices.tsx"

/** Removes all documents of the list, after confirmation. */
export const RemoveAll = ({ children, found }: { found: ReadonlyArray<DocumentInfo>; children: string }) => {
  const [confirming, setConfirming] = useState(false)
  const now = removing.value
  const what = pluralize(found.length, "document")
  return (
    <>
      <p class="found quiet">
        {now === undefined
          ? children
          : `Removed ${now.done.toLocaleString()} of ${pluralize(now.total, "document")}`}
        {found.length > 1 && now === undefined && (
          <Button
            kind="link trouble-link"

            aria-expanded={confirming}
            onClick={() => setConfirming(!confirming)}
          >
            Remove all {found.length.toLocaleString()}
          </Button>
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

/** Restores removed documents, the latest first. */
export const UndoBar = () => {
  const last = removed.value.at(-1)
  const more = removed.value.length - 1
  if (last === undefined) return null
  return (
    <section class="undo" aria-label="Removed document">
      <span>
        Removed <b>{last.document.title}</b>
        {more > 0 && ` and ${more} more`}
      </span>
      <LinkButton aria-disabled={restoring.value} onClick={undoRemoval}>
        {restoring.value ? "Restoring…" : "Undo"}
      </LinkButton>
      <IconButton label="Dismiss" sign="×" onClick={() => (removed.value = [])} />
    </section>
  )
}
