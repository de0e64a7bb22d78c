/** Restores removed documents, the latest first. */
import { removed, restoring, undoRemoval } from "../documents/documents.ts"

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
      <button class="link" type="button" aria-disabled={restoring.value} onClick={undoRemoval}>
        {restoring.value ? "Restoring…" : "Undo"}
      </button>
      <button class="icon" type="button" aria-label="Dismiss" onClick={() => (removed.value = [])}>
        ×
      </button>
    </section>
  )
}
