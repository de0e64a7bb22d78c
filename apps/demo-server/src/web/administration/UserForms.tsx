/** What is done to one user: given to and taken from, their role and limits changed, their token renewed. */
import { useState } from "preact/hooks"
import type { User } from "../api/administration.ts"
import { changeUser, renewAccess } from "./administration.ts"
import { unitsOf, usd } from "../ui/money.ts"
import { who } from "../page/session.ts"
import { AmountField } from "../ui/AmountField.tsx"
import { AskingForm, type Said } from "../ui/ActionForm.tsx"
import { Confirm } from "../ui/Confirm.tsx"
import { LimitFields, limitsSaid } from "../ui/LimitFields.tsx"
import { RoleField, roleSaid } from "./RoleField.tsx"

interface Props {
  readonly user: User
  readonly onDone: () => void
}

export const BalanceForm = ({ onDone, user }: Props) => {
  const [amount, setAmount] = useState("")
  const given = unitsOf(amount)
  const move = (sign: 1 | -1): Promise<boolean> => {
    if (given === undefined) return Promise.resolve(false)
    const said =
      sign === 1 ? `${usd(given)} given to ${user.username}.` : `${usd(given)} taken from ${user.username}.`
    return changeUser({ id: user.id, add_quota: sign * given }, said)
  }
  return (
    <AskingForm
      class="row-form"
      action="Give"
      ready={given !== undefined}
      ask={() => move(1)}
      onDone={onDone}
      instead={{ action: "Take", ask: () => move(-1) }}
    >
      <AmountField
        label={`Amount for ${user.username}, in USD`}
        value={amount}
        onValue={setAmount}
        hint={`${usd(user.quota)} now.`}
      />
    </AskingForm>
  )
}

/**
 * Nobody takes the administrator's role from themselves: there might be none left. Only what was changed here is sent:
 * another administrator may have changed the rest meanwhile.
 */
export const RightsForm = ({ onDone, user }: Props) => {
  const [before] = useState(user)
  const mine = who.value?.user === user.id
  const change = (said: Said): Promise<boolean> => {
    const now = { ...(!mine && { role: roleSaid(said("role")) }), ...limitsSaid(said) }
    const changed = Object.entries(now).filter(([name, value]) => value !== before[name as keyof typeof now])
    if (changed.length === 0) return Promise.resolve(true)
    return changeUser({ id: user.id, ...Object.fromEntries(changed) }, `${user.username} was changed.`)
  }
  return (
    <AskingForm class="row-form" action="Change" ask={change} onDone={onDone}>
      {!mine && <RoleField now={before.role} />}
      <LimitFields now={before} otherwise="For each key of theirs. Empty: as the server has it." />
    </AskingForm>
  )
}

export const RenewalForm = ({ onDone, user }: Props) => (
  <Confirm
    label={`New token for ${user.username}?`}
    action="End the old one"
    keep="Keep it"
    onSure={() => renewAccess(user)}
    onDone={onDone}
  >
    Make a new token for <b>{user.username}</b>? The one that they have now ends with it.
  </Confirm>
)
