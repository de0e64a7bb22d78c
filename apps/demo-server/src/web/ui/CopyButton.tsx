/** Copies a text, and says that it did. */
import { useEffect, useState } from "preact/hooks"
import { announce } from "./announce.ts"

interface Props {
  readonly text: string
  /** What is copied, for who does not see it beside the button. */
  readonly what: string
  readonly kind?: "link" | "button"
}

/** Where the clipboard may not be used (plain HTTP from another machine), the old way still works. */
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

const SAYS = { idle: "Copy", copied: "Copied", refused: "Select it" } as const
const SHOWN_MS = 2_000

export const CopyButton = ({ kind = "link", text, what }: Props) => {
  const [state, setState] = useState<keyof typeof SAYS>("idle")
  useEffect(() => {
    if (state === "idle") return
    const timer = setTimeout(() => setState("idle"), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [state])
  const onClick = async () => {
    const done = await copy(text)
    setState(done ? "copied" : "refused")
    announce(done ? `${what} was copied.` : "The browser does not let the page copy: select it, and copy.")
  }
  return (
    <button class={`${kind} copy`} type="button" aria-label={`Copy ${what}`} onClick={onClick}>
      {SAYS[state]}
    </button>
  )
}
