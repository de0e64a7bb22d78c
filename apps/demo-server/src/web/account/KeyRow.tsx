/** One key: enabled or disabled, deleted after a second look. */
import { useState } from "preact/hooks"
import type { Key } from "../api/account.ts"
import { removeKey, toggleKey } from "./account.ts"
import { usd } from "../ui/money.ts"
import { Confirm } from "../ui/Confirm.tsx"
import { limitsInWords } from "../ui/LimitFields.tsx"

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" })

const expiryOf = (seconds: number): string => {
  if (seconds < 0) return "never expires"
  const at = new Date(seconds * 1000)
  return `${at.getTime() < Date.now() ? "expired" : "until"} ${day.format(at)}`
}

export const KeyRow = ({ of: key }: { readonly of: Key }) => {
  const [asking, setAsking] = useState(false)
  const enabled = key.status === 1
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
          class="icon"
          type="button"
          aria-label={`Delete ${key.name}`}
          title="Delete"
          aria-expanded={asking}
          onClick={() => setAsking(!asking)}
        >
          ×
        </button>
      </div>
      {asking && (
        <Confirm
          label={`Delete ${key.name}?`}
          action="Delete for good"
          keep="Keep it"
          onSure={() => removeKey(key)}
          onDone={() => setAsking(false)}
        >
          Delete <b>{key.name}</b>? Programs that send it are refused from then on.
        </Confirm>
      )}
    </li>
  )
}
