/** One key: enabled or disabled, deleted after a second look. */
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import type { Key } from "../../api/account.ts"
import { removeKey, toggleKey } from "../../state/account.ts"
import { usd } from "../../state/money.ts"
import { limitsInWords } from "../forms/LimitFields.tsx"

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" })

const expiryOf = (seconds: number): string => {
  if (seconds < 0) return "never expires"
  const at = new Date(seconds * 1000)
  return `${at.getTime() < Date.now() ? "expired" : "until"} ${day.format(at)}`
}

interface Props {
  readonly of: Key
  readonly onRemoved: () => void
}

export const KeyRow = ({ of: key, onRemoved }: Props) => {
  const [asking, setAsking] = useState<boolean | undefined>(undefined)
  const keep = useRef<HTMLButtonElement>(null)
  const cross = useRef<HTMLButtonElement>(null)
  const enabled = key.status === 1
  const remove = () => {
    onRemoved()
    void removeKey(key)
  }
  // Before the next key is pressed: it is meant for what has come.
  useLayoutEffect(() => {
    if (asking === true) keep.current?.focus()
    if (asking === false) cross.current?.focus()
  }, [asking])
  return (
    <li data-enabled={enabled}>
      <p class="name">{key.name}</p>
      <p class="facts-line quiet">
        <code>{key.key ?? ""}</code>
        <span>{usd(key.remain_quota)} left</span>
        <span>{expiryOf(key.expired_time)}</span>
        {limitsInWords(key).map((limit) => (
          <span key={limit}>{limit}</span>
        ))}
        {key.subnet !== undefined && key.subnet !== "" && <span>from {key.subnet}</span>}
      </p>
      {asking === true ? (
        <fieldset class="actions">
          <legend class="unseen">Delete {key.name}?</legend>
          <button class="button danger" type="button" onClick={remove}>
            Delete for good
          </button>
          <button ref={keep} class="button" type="button" onClick={() => setAsking(false)}>
            Keep
          </button>
        </fieldset>
      ) : (
        <div class="actions">
          <label class="toggle">
            <input
              type="checkbox"
              role="switch"
              checked={enabled}
              aria-checked={enabled}
              aria-label={`${key.name} is enabled`}
              onChange={() => toggleKey(key)}
            />
            <span aria-hidden="true">{enabled ? "Enabled" : "Disabled"}</span>
          </label>
          <button
            ref={cross}
            class="icon"
            type="button"
            aria-label={`Delete ${key.name}`}
            title="Delete"
            onClick={() => setAsking(true)}
          >
            ×
          </button>
        </div>
      )}
    </li>
  )
}
