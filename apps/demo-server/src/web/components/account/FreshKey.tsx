/** A key that was just made: the server keeps a hash of it, so that this is the only time. */
import { useEffect, useRef } from "preact/hooks"
import { freshKey } from "../../state/account.ts"
import { CopyButton } from "../CopyButton.tsx"

interface Props {
  readonly fresh: { readonly name: string; readonly key: string }
}

export const FreshKey = ({ fresh: { key, name } }: Props) => {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => title.current?.focus(), [])
  return (
    <section class="fresh" aria-labelledby="fresh-title">
      <h2 id="fresh-title" ref={title} tabIndex={-1}>
        {name}
      </h2>
      <p>Copy it now: it is shown this once, and nobody can show it again.</p>
      <div class="secret">
        <code>{key}</code>
        <CopyButton kind="button" text={key} what="the key" />
      </div>
      <button class="link" type="button" onClick={() => (freshKey.value = undefined)}>
        I have it
      </button>
    </section>
  )
}
