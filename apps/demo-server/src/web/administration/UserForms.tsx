/** The forms for users: create one, change their balance, rights and token. */
import { useSignal } from "@preact/signals"
import { useState } from "preact/hooks"
import { signedIn } from "../page/session.ts"
import { ActionForm, type FieldReader, LimitFields, readLimits } from "../ui/ActionForm.tsx"
import { AmountField, InputField, SelectField } from "../ui/Fields.tsx"
import { parseUsd, usd } from "../ui/format.ts"
import { addUser, changeUser, inviteUser, type UserDetails } from "./administration.ts"

type UserRole = UserDetails["role"]

export const ROLE_NAMES: Readonly<Record<UserRole, string>> = { user: "User", admin: "Administrator" }

const readRole = (read: FieldReader): UserRole => (read("role") === "admin" ? "admin" : "user")

const RoleField = ({ now = "user" }: { readonly now?: UserRole }) => (
  <SelectField
    label="Role"
    name="role"
    hint="Administrators manage users and see the audit log."
    value={now}
    values={new Map(Object.entries(ROLE_NAMES))}
  />
)

const INVITE = "Invite by link"

const LIMITS_HINT = "For each of their keys. Leave empty to use the server’s limit."

export const NewUserForm = ({ onDone }: { readonly onDone: () => void }) => {
  const amount = useSignal("10.00")
  const quota = parseUsd(amount.value)
  return (
    <ActionForm
      class="new-key"
      actions={["Create the user", INVITE]}
      ready={quota !== undefined}
      send={(read) => {
        const user = { username: read("username"), quota: quota ?? 0, role: readRole(read) }
        return read("action") === INVITE ? inviteUser(user) : addUser({ ...user, ...readLimits(read) })
      }}
      onDone={onDone}
    >
      <InputField
        label="Name"
        hint="They sign in with a system access token, or by an invitation link. Both are shown once."
        name="username"
        required
        maxLength={100}
      />
      <div class="columns">
        <AmountField label="Starting balance, in USD" text={amount} />
        <RoleField />
      </div>
      <LimitFields hint={LIMITS_HINT} />
    </ActionForm>
  )
}

type Props = { readonly user: UserDetails; readonly onDone: () => void }

export const BalanceForm = ({ onDone, user }: Props) => {
  const text = useSignal("")
  const parsed = parseUsd(text.value)
  const amount = parsed ?? 0
  const send = (read: FieldReader): Promise<boolean> => {
    const deducts = read("action") === "Deduct"
    const done = `${usd(amount)} ${deducts ? "deducted from" : "added to"} the balance of ${user.username}.`
    return changeUser({ id: user.id, add_quota: deducts ? -amount : amount }, done)
  }
  return (
    <ActionForm
      class="row-form"
      actions={["Add", "Deduct"]}
      ready={parsed !== undefined}
      send={send}
      onDone={onDone}
    >
      <AmountField
        label={`Amount for ${user.username}, in USD`}
        text={text}
        hint={`The balance is ${usd(user.quota)}.`}
      />
    </ActionForm>
  )
}

/**
 * Administrators cannot change their own role: there might be none left. Only changed fields are sent: another
 * administrator may have changed the others.
 */
export const RightsForm = ({ onDone, user }: Props) => {
  const [before] = useState(user)
  const isSelf = signedIn.value?.user === user.id
  const send = async (read: FieldReader): Promise<boolean> => {
    const now = { ...(!isSelf && { role: readRole(read) }), ...readLimits(read) }
    const changed = Object.entries(now).filter(([name, value]) => value !== before[name as keyof typeof now])
    if (changed.length === 0) return true
    return changeUser({ id: user.id, ...Object.fromEntries(changed) }, `${user.username} was changed.`)
  }
  return (
    <ActionForm class="row-form" actions={["Save"]} send={send} onDone={onDone}>
      {!isSelf && <RoleField now={before.role} />}
      <LimitFields now={before} hint={LIMITS_HINT} />
    </ActionForm>
  )
}
