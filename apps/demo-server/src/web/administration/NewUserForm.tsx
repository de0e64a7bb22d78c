/** A new user: their name, what they begin with, and what they may do. */
import { useState } from "preact/hooks"
import { makeUser } from "./administration.ts"
import { unitsOf } from "../ui/money.ts"
import { AmountField } from "../ui/AmountField.tsx"
import { AskingForm } from "../ui/ActionForm.tsx"
import { LimitFields, limitsSaid } from "../ui/LimitFields.tsx"
import { Field } from "../ui/Fields.tsx"
import { RoleField, roleSaid } from "./RoleField.tsx"

export const NewUserForm = ({ onDone }: { readonly onDone: () => void }) => {
  const [amount, setAmount] = useState("10.00")
  const quota = unitsOf(amount)
  return (
    <AskingForm
      class="new-key"
      action="Make the user"
      ready={quota !== undefined}
      ask={(said) =>
        makeUser({
          username: said("username"),
          quota: quota ?? 0,
          role: roleSaid(said("role")),
          ...limitsSaid(said)
        })
      }
      onDone={onDone}
    >
      <Field label="Name" hint="They sign in with a system access token, which is shown once.">
        {(id) => <input id={id} name="username" required maxLength={100} autocomplete="off" />}
      </Field>
      <div class="pair">
        <AmountField label="Balance to begin with, in USD" value={amount} onValue={setAmount} />
        <RoleField />
      </div>
      <LimitFields otherwise="For each key of theirs. Empty: as the server has it." />
    </AskingForm>
  )
}
