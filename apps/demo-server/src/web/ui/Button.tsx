/** Buttons and links. */
import type { Signal } from "@preact/signals"
import type { ComponentChildren, ComponentProps } from "preact"
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks"
import { announce } from "./Notices.tsx"

type ButtonProps = Omit<ComponentProps<"button">, "class" | "type">

/** A button of a style of `forms.css`. */
export const Button = ({ kind = "button", ...props }: ButtonProps & { readonly kind?: string }) => (
  <button {...props} type="button" class={kind} />
)

export const LinkButton = (props: ButtonProps) => <Button {...props} kind="link" />

export const IconButton = ({ label, sign, ...props }: ButtonProps & { label: string; sign: string }) => (
  <Button {...props} kind="icon" aria-label={label} title={label}>
    {sign}
  </Button>
)

export const NewTabLink = ({ children, ...props }: ComponentProps<"a">) => (
  <a {...props} target="_blank" rel="noreferrer">
    {children}
  </a>
)

/** Over plain HTTP from another machine the clipboard API is not available; `execCommand` still works. */
const copy = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = document.createElement("textarea")
    area.value = text
    area.className = "visually-hidden"
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

type Step = ComponentProps<typeof IconButton>

interface StepsProps {
  readonly label: string
  readonly back: Step
  readonly forward: Step
  readonly onStep: (by: 1 | -1) => void
  readonly children: ComponentChildren
}

/** Two buttons to go back and forward, and between them the current place. */
export const Steps = ({ back, children, forward, label, onStep }: StepsProps) => (
  <fieldset class="row unbroken steps quiet no-break" aria-label={label}>
    <IconButton {...back} onClick={() => onStep(-1)} />
    {children}
    <IconButton {...forward} onClick={() => onStep(1)} />
  </fieldset>
)

/** `what` names the text for screen readers. */
export const CopyButton = ({ kind = "link", text, what }: { kind?: string; text: string; what: string }) => {
  const [state, setState] = useState<keyof typeof LABELS>("idle")
  useEffect(() => {
    if (state === "idle") return
    const timer = setTimeout(() => setState("idle"), 2_000)
    return () => clearTimeout(timer)
  }, [state])
  const onClick = async () => {
    const done = await copy(text)
    setState(done ? "copied" : "refused")
    announce(done ? `Copied ${what}.` : "The browser does not allow copying. Select the text and copy it.")
  }
  return (
    <Button kind={`${kind} copy`} aria-label={`Copy ${what}`} onClick={onClick}>
      {LABELS[state]}
    </Button>
  )
}

/** As the `ref` of an element: focuses it when it appears. */
export const focusOnAppear = (element: HTMLElement | null): void => element?.focus({ preventScroll: true })

/** A new secret. The server stores only its hash, so it is shown once. */
export interface Secret {
  /** Of the key that it belongs to. */
  readonly id?: number
  readonly name: string
  readonly secret: string
  /** Such as `the key`. */
  readonly what: string
}

export const NewSecret = ({ of }: { readonly of: Signal<Secret | undefined> }) => {
  const id = useId()
  const title = useRef<HTMLHeadingElement>(null)
  const now = of.value
  useLayoutEffect(() => title.current?.focus(), [now])
  if (now === undefined) return null
  return (
    <section class="stack card new-secret" aria-labelledby={id}>
      <h2 class="breakable" id={id} ref={title} tabIndex={-1}>
        {now.name}
      </h2>
      <p>Copy it now. You won’t see it again.</p>
      <div class="row secret">
        <code>{now.secret}</code>
        <CopyButton kind="button" text={now.secret} what={now.what} />
      </div>
      <LinkButton onClick={() => (of.value = undefined)}>Done</LinkButton>
    </section>
  )
}
