/** Copies a text to the clipboard. */
import { useEffect, useState } from "preact/hooks"
import { announce } from "./announce.ts"

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
    const area = Object.assign(document.createElement("textarea"), { value: text, className: "unseen" })
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
