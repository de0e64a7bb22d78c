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
  /** It was done, or is not wanted any more. */
  readonly onDone: () => void
  readonly children: ComponentChildren
  /** What may be asked for instead; not while the other is under way. */
  readonly instead?: Pick<Props, "action" | "ask">
}

export const AskingForm = ({ action, ask, children, instead, onDone, ready = true, ...props }: Props) => {
  const [busy, setBusy] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>("input, select")?.focus(), [])
  const send = async (ask: Props["ask"]) => {
    if (!ready || busy || form.current === null) return
    const data = new FormData(form.current)
    setBusy(true)
    const done = await ask((name) => String(data.get(name) ?? "").trim())
    setBusy(false)
    if (done) onDone()
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void send(ask)
  }
  return (
    <form class={props.class} ref={form} onSubmit={submit} aria-busy={busy}>
      {children}
      <div class="send">
        <button class="button primary" type="submit" disabled={!ready} aria-disabled={busy}>
          {action}
        </button>
        {instead !== undefined && (
          <button
            class="button"
            type="button"
            disabled={!ready}
            aria-disabled={busy}
            onClick={() => send(instead.ask)}
          >
            {instead.action}
          </button>
        )}
        <button class="link" type="button" onClick={onDone}>
          Cancel
        </button>
      </div>
    </form>
  )
}
