/** A new secret. The server stores only its hash, so it is shown once. */
import { useId, useLayoutEffect, useRef } from "preact/hooks"
import { CopyButton } from "./CopyButton.tsx"

interface Props {
  readonly name: string
  readonly secret: string
  /** Such as `the key`. */
  readonly what: string
  readonly onSeen: () => void
}

export const NewSecret = ({ name, onSeen, secret, what }: Props) => {
  const id = useId()
  const title = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => title.current?.focus(), [])
  return (
    <section class="fresh" aria-labelledby={id}>
      <h2 id={id} ref={title} tabIndex={-1}>
        {name}
      </h2>
      <p>Copy it now. You won’t see it again.</p>
      <div class="secret">
        <code>{secret}</code>
        <CopyButton kind="button" text={secret} what={what} />
      </div>
      <button class="link" type="button" onClick={onSeen}>
        Done
      </button>
    </section>
  )
}
