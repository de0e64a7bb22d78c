/** The users of the server, and the audit log: for administrators. */
import { useState } from "preact/hooks"
import { EditableList, PagedRows } from "../page/PagedList.tsx"
import { signedIn } from "../page/session.ts"
import { Confirm, describeLimits } from "../ui/ActionForm.tsx"
import { LinkButton } from "../ui/Button.tsx"
import { Switch } from "../ui/Fields.tsx"
import { dayOf, usd } from "../ui/format.ts"
import {
  type AuditLine,
  auditLog,
  changeUser,
  replaceUserToken,
  userChanges,
  type UserDetails,
  users
} from "./administration.ts"
import { BalanceForm, NewUserForm, RightsForm, ROLE_NAMES } from "./UserForms.tsx"

const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })

/** Known actions; others are shown by their name. */
const ACTIONS: Record<string, string> = {
  "user.create": "created the user",
  "user.update": "changed the user",
  "access_token.create": "created an access token for",
  "token.create": "created the key",
  "token.update": "changed the key",
  "token.remove": "deleted the key",
  "session.open": "signed in",
  "session.close": "signed out",
  "members.update": "changed the members of",
  "invitation.create": "invited",
  "connection.try": "tried the vendor",
  "connection.save": "connected the vendor",
  "connection.remove": "removed the vendor",
  "local_models.download": "downloaded the local models",
  "local_models.use": "changed the local models to"
}

const nameOf = (id: string): string => users.rows.value?.find((user) => user.id === id)?.username ?? id

const isEmpty = (value: unknown): boolean => value === null || value === ""

const valueText = (key: string, value: AuditLine["details"][string]): string => {
  if (isEmpty(value)) return "none"
  if (key === "status") return value === 1 ? "enabled" : "disabled"
  if (key.endsWith("quota") && typeof value === "number") return usd(value)
  if (key.endsWith("_at") && typeof value === "number") return dateTime.format(new Date(value))
  return typeof value === "string" ? value : JSON.stringify(value)
}

/** Leaves out the name, which is shown before, and the empty values of a creation. */
const detailsText = (action: string, details: AuditLine["details"]): string =>
  Object.entries(details)
    .filter(([key, value]) => key !== "username" && !(action.endsWith(".create") && isEmpty(value)))
    .map(([key, value]) => `${key.replaceAll("_", " ")} ${valueText(key, value)}`)
    .join(", ")

const Line = ({ of: line }: { readonly of: AuditLine }) => {
  const { action, address, details, subject, time } = line
  const isSession = action.startsWith("session.")
  const target =
    subject === "" || isSession
      ? ""
      : /^(?:token|connection|local_models)\./.test(action)
        ? subject
        : nameOf(subject)
  const at = new Date(time * 1000)
  return (
    <li>
      <p>
        <b>{nameOf(line.user)}</b> {ACTIONS[action] ?? action} {target}
        {!isSession && Object.keys(details).length > 0 && (
          <span class="quiet"> {detailsText(action, details)}</span>
        )}
      </p>
      <p class="row quiet facts-line">
        <time dateTime={at.toISOString()}>{dateTime.format(at)}</time>
        <span>by {line.by}</span>
        {address !== "" && <span>from {address}</span>}
      </p>
    </li>
  )
}

const FORMS = { Balance: BalanceForm, Rights: RightsForm } as const

type FormName = keyof typeof FORMS
const FORM_NAMES = Object.keys(FORMS) as ReadonlyArray<FormName>

const Row = ({ of: user }: { readonly of: UserDetails }) => {
  const [open, setOpen] = useState<FormName>()
  const { created_time, id, quota, role, status, username } = user
  const enabled = status === 1
  // Administrators renew their own token in the account view.
  const isSelf = signedIn.value?.user === id
  const toggle = () =>
    changeUser({ id, status: enabled ? 0 : 1 }, `${username} is ${enabled ? "disabled" : "enabled"}.`)
  const Form = open === undefined ? undefined : FORMS[open]
  return (
    <li data-enabled={enabled}>
      <p class="name">{username}</p>
      <p class="row quiet facts-line">
        <span>{ROLE_NAMES[role].toLowerCase()}</span>
        <span>{usd(quota)} left</span>
        {describeLimits(user).map((limit) => (
          <span key={limit}>{limit}</span>
        ))}
        <span>since {dayOf(created_time)}</span>
      </p>
      <div class="actions">
        {FORM_NAMES.map((name) => (
          <LinkButton
            key={name}
            aria-expanded={open === name}
            aria-label={`${name} of ${username}`}
            onClick={() => setOpen(open === name ? undefined : name)}
          >
            {name}
          </LinkButton>
        ))}
        {!isSelf && (
          <>
            <Confirm
              action="Revoke and create"
              onConfirm={() => replaceUserToken(user)}
              opener={{ "aria-label": `New token for ${username}`, children: "New token" }}
            >
              Create a new token for <b>{username}</b>? Their current token will be revoked.
            </Confirm>
            <Switch label={`${username} is enabled`} on={enabled} onToggle={toggle} />
          </>
        )}
      </div>
      {Form !== undefined && <Form key={open} user={user} onDone={() => setOpen(undefined)} />}
    </li>
  )
}

export const AdministrationView = () => (
  <div class="stack account">
    <h1>Administration</h1>
    <EditableList
      title="Users"
      add="New user"
      Form={NewUserForm}
      changes={userChanges}
      list={users}
      Row={Row}
      more="Show more users"
    />
    <section class="stack loose keys-list audit" aria-labelledby="audit-title">
      <h2 id="audit-title">Audit log</h2>
      <PagedRows list={auditLog} Row={Line} empty="No changes yet." more="Show more of the log" />
    </section>
  </div>
)
