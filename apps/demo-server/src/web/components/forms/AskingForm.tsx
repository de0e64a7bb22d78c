/** A form that asks the server for something: its first field has the focus, and it is sent once at a time. */
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef, useState } from "preact/hooks"

/** What was written and chosen, by the names of the fields. */
export type Said = (name: string) => string

interface Props {
  /** What is said on the button that sends it. */
  readonly action: string
  readonly class: "new-key" | "row-form"
  /** Whether all that is needed is there; what the browser checks by itself aside. */
  readonly ready?: boolean
  /** Whether it was done. What was written stays where it was not. */
  readonly ask: (said: Said) => Promise<boolean>
  readonly onDone: () => void
  readonly onCancel: () => void
  readonly children: ComponentChildren
  /** Buttons beside the one that sends it. */
  readonly more?: ComponentChildren
}

export const AskingForm = ({
  action,
  ask,
  children,
  more,
  onCancel,
  onDone,
  ready = true,
  ...props
}: Props) => {
  const [busy, setBusy] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>("input, select")?.focus(), [])
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (!ready || busy) return
    const data = new FormData(event.currentTarget as HTMLFormElement)
    setBusy(true)
    const done = await ask((name) => String(data.get(name) ?? "").trim())
    setBusy(false)
    if (done) onDone()
  }
  return (
    <form class={props.class} ref={form} onSubmit={submit} aria-busy={busy}>
      {children}
      <div class="send">
        <button class="button primary" type="submit" disabled={busy || !ready}>
          {action}
        </button>
        {more}
        <button class="link" type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  )
}
