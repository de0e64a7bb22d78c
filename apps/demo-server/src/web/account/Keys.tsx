/** The API keys: made here, shown once, then only managed. */
import { useState } from "preact/hooks"
import { freshKey, keyFailure, keys, moreKeys, showMoreKeys } from "./account.ts"
import { FreshSecret } from "../ui/NewSecret.tsx"
import { KeyRow } from "./KeyRow.tsx"
import { NewKeyForm } from "./NewKeyForm.tsx"
import { Problem } from "../ui/Problem.tsx"

export const Keys = () => {
  const [making, setMaking] = useState(false)
  const close = () => setMaking(false)
  const all = keys.value
  const fresh = freshKey.value
  return (
    <section class="keys-list" aria-labelledby="keys-title">
      <header>
        <h2 id="keys-title">API keys</h2>
        <button class="button" type="button" aria-expanded={making} onClick={() => setMaking(!making)}>
          New key
        </button>
      </header>
      {fresh !== undefined && (
        <FreshSecret
          key={fresh.id}
          name={fresh.name}
          secret={fresh.key}
          what="the key"
          onSeen={() => (freshKey.value = undefined)}
        />
      )}
      {making && <NewKeyForm onDone={close} />}
      <Problem failure={keyFailure.value} />
      {all?.length === 0 && <p class="lead">No key yet. A program that calls this server needs one.</p>}
      {all !== undefined && all.length > 0 && (
        <ul>
          {all.map((key) => (
            <KeyRow key={key.id} of={key} />
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
