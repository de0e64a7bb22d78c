/** A removed document can be put back for as long as this stands. */
import { removed, undoRemoval } from "../state/library.ts"

export const UndoBar = () => {
  const last = removed.value
  if (last === undefined) return null
  return (
    <section class="undo" aria-label="Removed document">
      <span>
        Removed <b>{last.document.title}</b>
      </span>
      <button class="link" type="button" disabled={last.restoring} onClick={undoRemoval}>
        {last.restoring ? "Putting it back" : "Undo"}
      </button>
      <button class="icon" type="button" aria-label="Dismiss" onClick={() => (removed.value = undefined)}>
        ×
      </button>
    </section>
  )
}
