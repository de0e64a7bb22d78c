/** Forms that send one request at a time, and confirmation of what cannot be undone. */
import type { ComponentChildren, ComponentProps } from "preact"
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks"
import type { UserInfo } from "../../contract/Administration.ts"
import { Button, LinkButton } from "./Button.tsx"
import { InputField } from "./Fields.tsx"

export type FieldReader = (name: string) => string

interface Props {
  /** The submit buttons; Enter presses the first one. */
  readonly actions: readonly [string, ...ReadonlyArray<string>]
  readonly class: "new-key" | "row-form" | "sign-in"
  /** False while a value is missing or wrong that the browser does not check. */
  readonly ready?: boolean
  /**
   * Sends the request; resolves to whether it succeeded. The fields keep their values if it did not. The field `action` is
   * the button that was pressed.
   */
  readonly send: (read: FieldReader) => Promise<boolean>
  /** Called on success and on cancel. Absent: the form cannot be closed. */
  readonly onDone?: () => void
  /** Called on success, of a form that stays. */
  readonly onSent?: () => void
  readonly children: ComponentChildren
}

export const ActionForm = ({ actions, ready = true, ...props }: Props) => {
  const [busy, setBusy] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>("input, select")?.focus(), [])
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (!ready || busy) return
    const data = new FormData(event.currentTarget as HTMLFormElement, event.submitter)
    setBusy(true)
    const done = await props.send((name) => String(data.get(name) ?? "").trim())
    setBusy(false)
    if (!done) return
    props.onSent?.()
    props.onDone?.()
  }
  return (
    <form class={`stack ${props.class}`} ref={form} onSubmit={onSubmit} aria-busy={busy}>
      {props.children}
      <div class="row send">
        {actions.map((action, at) => (
          <button
            key={action}
            class={at === 0 ? "button primary" : "button"}
            name="action"
            value={action}
            disabled={!ready}
            aria-disabled={busy}
          >
            {action}
          </button>
        ))}
        {props.onDone && <LinkButton onClick={props.onDone}>Cancel</LinkButton>}
      </div>
    </form>
  )
}

/** Limits per minute; 0: none. */
export type Limits = Pick<typeof UserInfo.Type, "requests_per_minute" | "tokens_per_minute">

/** Reads the fields below; an empty field is 0, no limit. */
export const readLimits = (read: FieldReader): Limits => ({
  requests_per_minute: Number(read("requests")),
  tokens_per_minute: Number(read("tokens"))
})

/** `90 requests per minute`; empty without limits. */
export const describeLimits = (limits: Partial<Limits>): ReadonlyArray<string> =>
  Object.entries({ requests: limits.requests_per_minute ?? 0, tokens: limits.tokens_per_minute ?? 0 })
    .filter(([, limit]) => limit > 0)
    .map(([name, limit]) => `${limit.toLocaleString()} ${name} per minute`)

export const LimitFields = ({ hint, now }: { now?: Limits; hint: string }) => {
  const field = (name: string, label: string, limit = 0) => (
    <InputField
      label={`${label} per minute (optional)`}
      hint={hint}
      name={name}
      type="number"
      min={1}
      defaultValue={limit === 0 ? "" : String(limit)}
    />
  )
  return (
    <div class="pair">
      {field("requests", "Requests", now?.requests_per_minute)}
      {field("tokens", "Tokens", now?.tokens_per_minute)}
    </div>
  )
}

interface ConfirmProps {
  readonly action: string
  readonly keep?: string
  readonly onConfirm: () => void
  /** The link that opens the question, or another control that does. */
  readonly opener: ComponentProps<typeof Button> | ((open: () => void) => ComponentChildren)
  readonly children: ComponentChildren
}

/** Asks before something that can't be undone. The browser returns the focus to the opener. */
export const Confirm = ({ action, children, keep = "Keep it", onConfirm, opener }: ConfirmProps) => {
  const question = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const open = () => {
    if (dialog.current === null) return
    dialog.current.returnValue = ""
    dialog.current.showModal()
  }
  return (
    <>
      {typeof opener === "function" ? opener(open) : <Button kind="link" {...opener} onClick={open} />}
      <dialog
        class="card confirm"
        ref={dialog}
        aria-labelledby={question}
        onClose={(event) => event.currentTarget.returnValue === action && onConfirm()}
      >
        <form class="row send" method="dialog">
          <p id={question}>{children}</p>
          <button class="button danger" value={action}>
            {action}
          </button>
          <button class="button" autofocus>
            {keep}
          </button>
        </form>
      </dialog>
    </>
  )
}
