/** A form that sends one request at a time and closes when it succeeds. */
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef, useState } from "preact/hooks"

/** Reads the value of a field by its name. */
export type FieldReader = (name: string) => string

interface Props {
  /** The text of the submit button. */
  readonly action: string
  readonly class: "new-key" | "row-form"
  /** False while a value is missing or wrong that the browser does not check. */
  readonly ready?: boolean
  /** Sends the request; resolves to whether it succeeded. The fields keep their values if it did not. */
  readonly send: (read: FieldReader) => Promise<boolean>
  /** Called on success and on cancel. */
  readonly onDone: () => void
  readonly children: ComponentChildren
  /** A second submit button. */
  readonly alternative?: Pick<Props, "action" | "send">
}

export const ActionForm = ({ alternative, ready = true, ...props }: Props) => {
  const [busy, setBusy] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>("input, select")?.focus(), [])
  const submit = async (send: Props["send"]) => {
    if (!ready || busy || form.current === null) return
    const data = new FormData(form.current)
    setBusy(true)
    const done = await send((name) => String(data.get(name) ?? "").trim())
    setBusy(false)
    if (done) props.onDone()
  }
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault()
    void submit(props.send)
  }
  return (
    <form class={props.class} ref={form} onSubmit={onSubmit} aria-busy={busy}>
      {props.children}
      <div class="send">
        <button class="button primary" type="submit" disabled={!ready} aria-disabled={busy}>
          {props.action}
        </button>
        {alternative !== undefined && (
          <button
            class="button"
            type="button"
            disabled={!ready}
            aria-disabled={busy}
            onClick={() => submit(alternative.send)}
          >
            {alternative.action}
          </button>
        )}
        <button class="link" type="button" onClick={props.onDone}>
          Cancel
        </button>
      </div>
    </form>
  )
}
