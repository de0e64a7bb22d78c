/** A secret that was just made: the server keeps a hash of it, so that this is the only time. */
import { useLayoutEffect, useId, useRef } from "preact/hooks"
import { CopyButton } from "./CopyButton.tsx"

interface Props {
  readonly name: string
  readonly secret: string
  /** What it is, such as `the key`. */
  readonly what: string
  readonly onSeen: () => void
}

export const FreshSecret = ({ name, onSeen, secret, what }: Props) => {
  const id = useId()
  const title = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => title.current?.focus(), [])
  return (
    <section class="fresh" aria-labelledby={id}>
      <h2 id={id} ref={title} tabIndex={-1}>
        {name}
      </h2>
      <p>Copy it now: it is shown this once, and nobody can show it again.</p>
      <div class="secret">
        <code>{secret}</code>
        <CopyButton kind="button" text={secret} what={what} />
      </div>
      <button class="link" type="button" onClick={onSeen}>
        I have it
      </button>
    </section>
  )
}
