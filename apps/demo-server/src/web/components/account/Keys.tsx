/** The API keys: made here, shown once, then only managed. */
import { useRef, useState } from "preact/hooks"
import { freshKey, keyFailure, keys, moreKeys, showMoreKeys } from "../../state/account.ts"
import { FreshSecret } from "./FreshSecret.tsx"
import { KeyRow } from "./KeyRow.tsx"
import { NewKeyForm } from "./NewKeyForm.tsx"
import { Problem } from "../Problem.tsx"

export const Keys = () => {
  const [making, setMaking] = useState(false)
  const title = useRef<HTMLHeadingElement>(null)
  /** What had the focus is gone: who came by keyboard goes on from here. */
  const toTitle = () => title.current?.focus({ preventScroll: true })
  const close = () => {
    setMaking(false)
    toTitle()
  }
  const all = keys.value
  const fresh = freshKey.value
  return (
    <section class="keys-list" aria-labelledby="keys-title">
      <header>
        <h2 id="keys-title" ref={title} tabIndex={-1}>
          API keys
        </h2>
        {!making && (
          <button class="button" type="button" onClick={() => setMaking(true)}>
            New key
          </button>
        )}
      </header>
      {fresh !== undefined && (
        <FreshSecret
          key={fresh.id}
          name={fresh.name}
          secret={fresh.key}
          what="the key"
          onSeen={() => {
            freshKey.value = undefined
            toTitle()
          }}
        />
      )}
      {making && <NewKeyForm onMade={() => setMaking(false)} onCancel={close} />}
      <Problem failure={keyFailure.value} />
      {all?.length === 0 && <p class="lead">No key yet. A program that calls this server needs one.</p>}
      {all !== undefined && all.length > 0 && (
        <ul>
          {all.map((key) => (
            <KeyRow key={key.id} of={key} onRemoved={toTitle} />
          ))}
        </ul>
      )}
      {moreKeys.value && (
        <button class="button" type="button" onClick={showMoreKeys}>
          Show more
        </button>
      )}
    </section>
  )
}
