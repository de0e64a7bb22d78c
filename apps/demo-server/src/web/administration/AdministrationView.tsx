/** The users of the server, and the audit log: for administrators. */
import { useState } from "preact/hooks"
import type { UserDetails } from "../api/account.ts"
import { PagedRows } from "../page/PagedList.tsx"
import { signedIn } from "../page/session.ts"
import { describeLimits } from "../ui/ActionForm.tsx"
import { Button, NewSecret } from "../ui/Button.tsx"
import { Switch } from "../ui/Fields.tsx"
import { dayOf, usd } from "../ui/format.ts"
import { ErrorMessage } from "../ui/Notices.tsx"
import { changeUser, newUserToken, userError, users } from "./administration.ts"
import { AuditLog } from "./AuditLog.tsx"
import { BalanceForm, NewUserForm, RightsForm, ROLE_NAMES, TokenForm } from "./UserForms.tsx"

/** Administrators renew their own token in the account view. */
const FORMS = {
  Balance: { form: BalanceForm, label: "Balance of", forSelf: true },
  Rights: { form: RightsForm, label: "Rights of", forSelf: true },
  "New token": { form: TokenForm, label: "New token for", forSelf: false }
} as const

type FormName = keyof typeof FORMS
const FORM_NAMES = Object.keys(FORMS) as ReadonlyArray<FormName>

const Row = ({ user }: { readonly user: UserDetails }) => {
  const [open, setOpen] = useState<FormName | undefined>(undefined)
  const { created_time, id, quota, role, status, username } = user
  const enabled = status === 1
  const isSelf = signedIn.value?.user === id
  const toggle = () =>
    changeUser({ id, status: enabled ? 0 : 1 }, `${username} is ${enabled ? "disabled" : "enabled"}.`)
  const Form = open === undefined ? undefined : FORMS[open].form
  return (
    <li data-enabled={enabled}>
      <p class="name">{username}</p>
      <p class="facts-line quiet">
        <span>{ROLE_NAMES[role].toLowerCase()}</span>
        <span>{usd(quota)} left</span>
        {describeLimits(user).map((limit) => (
          <span key={limit}>{limit}</span>
        ))}
        <span>since {dayOf(created_time)}</span>
      </p>
      <div class="actions">
        {FORM_NAMES.filter((name) => FORMS[name].forSelf || !isSelf).map((name) => (
          <Button
            key={name}
            kind="link"

            aria-expanded={open === name}
            aria-label={`${FORMS[name].label} ${username}`}
            onClick={() => setOpen(open === name ? undefined : name)}
          >
            {name}
          </Button>
        ))}
        {!isSelf && <Switch label={`${username} is enabled`} on={enabled} onToggle={toggle} />}
      </div>
      {Form !== undefined && <Form key={open} user={user} onDone={() => setOpen(undefined)} />}
    </li>
  )
}

const UserList = () => {
  const [creating, setCreating] = useState(false)
  const fresh = newUserToken.value
  return (
    <section class="keys-list" aria-labelledby="users-title">
      <header>
        <h2 id="users-title">Users</h2>
        <Button aria-expanded={creating} onClick={() => setCreating(!creating)}>
          New user
        </Button>
      </header>
      {fresh !== undefined && (
        <NewSecret
          key={fresh.token}
          name={`System access token of ${fresh.username}`}
          secret={fresh.token}
          what="the token"
          onSeen={() => (newUserToken.value = undefined)}
        />
      )}
      {creating && <NewUserForm onDone={() => setCreating(false)} />}
      <ErrorMessage error={userError.value} />
      <PagedRows list={users} more="Show more users" row={(user) => <Row key={user.id} user={user} />} />
    </section>
  )
}

export const AdministrationView = () => (
  <div class="account">
    <h1>Administration</h1>
    <UserList />
    <AuditLog />
  </div>
)
