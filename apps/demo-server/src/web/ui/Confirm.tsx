/** A second look before what cannot be taken back. */
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"

interface Props {
  /** What is asked, for screen readers. */
  readonly label: string
  readonly action: string
  readonly keep: string
  readonly onSure: () => void
  /** After either. */
  readonly onDone: () => void
  readonly children: ComponentChildren
}

export const Confirm = ({ action, children, keep, label, onDone, onSure }: Props) => {
  const kept = useRef<HTMLButtonElement>(null)
  // Before the next key is pressed: it is meant for what has come.
  useLayoutEffect(() => kept.current?.focus(), [])
  const remove = () => {
    onDone()
    onSure()
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
        <button class="button danger" type="button" onClick={remove} onKeyDown={onKeyDown}>
          {action}
        </button>
        <button ref={kept} class="button" type="button" onClick={onDone} onKeyDown={onKeyDown}>
          {keep}
        </button>
      </div>
    </fieldset>
  )
}
