/** Buttons. */
import type { ComponentProps } from "preact"
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks"
import { announce } from "./Notices.tsx"

type ButtonProps = Omit<ComponentProps<"button">, "class" | "type">

/** A button of a style of `forms.css`. */
export const Button = ({ kind = "button", ...props }: ButtonProps & { readonly kind?: string }) => (
  <button {...props} type="button" class={kind} />
)

/** A button that looks like a link. */
export const LinkButton = (props: ButtonProps) => <Button {...props} kind="link" />

/** A button with a sign for its text. */
export const IconButton = ({ label, sign, ...props }: ButtonProps & { label: string; sign: string }) => (
  <Button {...props} kind="icon" aria-label={label} title={label}>
    {sign}
  </Button>
)

interface Props {
  readonly text: string
  /** What is copied, for screen readers. */
  readonly what: string
  readonly kind?: "link" | "button"
}

/** Over plain HTTP from another machine the clipboard API is not available; `execCommand` still works. */
const copy = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = Object.assign(document.createElement("textarea"), {
      value: text,
      className: "visually-hidden"
    })
    const focused = document.activeElement
    document.body.append(area)
    area.select()
    const done = document.execCommand("copy")
    area.remove()
    if (focused instanceof HTMLElement) focused.focus()
    return done
  }
}

const LABELS = { idle: "Copy", copied: "Copied", refused: "Select it" } as const
const SHOWN_MS = 2_000

export const CopyButton = ({ kind = "link", text, what }: Props) => {
  const [state, setState] = useState<keyof typeof LABELS>("idle")
  useEffect(() => {
    if (state === "idle") return
    const timer = setTimeout(() => setState("idle"), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [state])
  const onClick = async () => {
    const done = await copy(text)
    setState(done ? "copied" : "refused")
    announce(done ? `Copied ${what}.` : "The browser does not allow copying. Select the text and copy it.")
  }
  return (
    <button class={`${kind} copy`} type="button" aria-label={`Copy ${what}`} onClick={onClick}>
      {LABELS[state]}
    </button>
  )
}

interface SecretProps {
  readonly name: string
  readonly secret: string
  /** Such as `the key`. */
  readonly what: string
  readonly onSeen: () => void
}

/** A new secret. The server stores only its hash, so it is shown once. */
export const NewSecret = ({ name, onSeen, secret, what }: SecretProps) => {
  const id = useId()
  const title = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => title.current?.focus(), [])
  return (
    <section class="new-secret" aria-labelledby={id}>
      <h2 id={id} ref={title} tabIndex={-1}>
        {name}
      </h2>
      <p>Copy it now. You won’t see it again.</p>
      <div class="secret">
        <code>{secret}</code>
        <CopyButton kind="button" text={secret} what={what} />
      </div>
      <LinkButton onClick={onSeen}>Done</LinkButton>
    </section>
  )
}
