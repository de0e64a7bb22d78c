/** Asks for confirmation before an action that cannot be undone. */
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"

interface Props {
  readonly label: string
  readonly action: string
  readonly keep: string
  readonly onConfirm: () => void
  readonly onDone: () => void
  readonly children: ComponentChildren
}

export const Confirm = ({ action, children, keep, label, onConfirm, onDone }: Props) => {
  const cancel = useRef<HTMLButtonElement>(null)
  // In the layout effect: the next key press already belongs to this question.
  useLayoutEffect(() => cancel.current?.focus(), [])
  const confirm = () => {
    onDone()
    onConfirm()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return
    event.preventDefault()
    onDone()
  }
  return (
    <fieldset class="confirm" aria-label={label}>
      <p>{children}</p>
      <div class="send">
        <button class="button danger" type="button" onClick={confirm} onKeyDown={onKeyDown}>
          {action}
        </button>
        <button ref={cancel} class="button" type="button" onClick={onDone} onKeyDown={onKeyDown}>
          {keep}
        </button>
      </div>
    </fieldset>
  )
}
