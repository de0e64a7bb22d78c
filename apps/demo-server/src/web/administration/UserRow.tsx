/** One user: enabled or disabled, given to and taken from, changed, a new token where the old one was lost. */
import { useState } from "preact/hooks"
import type { User } from "../api/administration.ts"
import { changeUser } from "./administration.ts"
import { usd } from "../ui/money.ts"
import { who } from "../page/session.ts"
import { limitsInWords } from "../ui/LimitFields.tsx"
import { ROLES } from "./RoleField.tsx"
import { BalanceForm, RenewalForm, RightsForm } from "./UserForms.tsx"

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" })

/** What may be done, and what it is called; a new token of one's own is on the account's page. */
const FORMS = {
  Balance: { of: BalanceForm, label: "Balance of", own: true },
  Rights: { of: RightsForm, label: "Rights of", own: true },
  "New token": { of: RenewalForm, label: "New token for", own: false }
} as const

type Doing = keyof typeof FORMS
const ALL = Object.keys(FORMS) as ReadonlyArray<Doing>

export const UserRow = ({ user }: { readonly user: User }) => {
  const [doing, setDoing] = useState<Doing | undefined>(undefined)
  const { created_time, id, quota, role, status, username } = user
  const enabled = status === 1
  const self = who.value?.user === id
  const toggle = () =>
    changeUser({ id, status: enabled ? 0 : 1 }, `${username} is ${enabled ? "disabled" : "enabled"}.`)
  const Form = doing === undefined ? undefined : FORMS[doing].of
  return (
    <li data-enabled={enabled}>
      <p class="name">{username}</p>
      <p class="facts-line quiet">
        <span>{ROLES[role].toLowerCase()}</span>
        <span>{usd(quota)} left</span>
        {limitsInWords(user).map((limit) => (
          <span key={limit}>{limit}</span>
        ))}
        <span>since {day.format(new Date(created_time * 1000))}</span>
      </p>
      <div class="actions">
        {ALL.filter((name) => FORMS[name].own || !self).map((name) => (
          <button
            key={name}
            class="link"
            type="button"
            aria-expanded={doing === name}
            aria-label={`${FORMS[name].label} ${username}`}
            onClick={() => setDoing(doing === name ? undefined : name)}
          >
            {name}
          </button>
        ))}
        {!self && (
          <label class="toggle">
            <input
              type="checkbox"
              role="switch"
              checked={enabled}
              aria-checked={enabled}
              aria-label={`${username} is enabled`}
              onChange={toggle}
            />
            <span aria-hidden="true">{enabled ? "Enabled" : "Disabled"}</span>
          </label>
        )}
      </div>
      {Form !== undefined && <Form key={doing} user={user} onDone={() => setDoing(undefined)} />}
    </li>
  )
}
