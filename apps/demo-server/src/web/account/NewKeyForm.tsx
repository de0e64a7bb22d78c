/** What a new key may do: its name, how much it may spend, until when, from where, and how much in a minute. */
import { useState } from "preact/hooks"
import { makeKey } from "./account.ts"
import { unitsOf } from "../ui/money.ts"
import { AmountField } from "../ui/AmountField.tsx"
import { AskingForm } from "../ui/ActionForm.tsx"
import { LimitFields, limitsSaid } from "../ui/LimitFields.tsx"
import { Field } from "../ui/Fields.tsx"

const DAYS = { never: "Never", 7: "In a week", 30: "In 30 days", 365: "In a year" } as const

const expiry = (days: string): number =>
  days === "never" ? -1 : Math.floor(Date.now() / 1000) + Number(days) * 24 * 60 * 60

export const NewKeyForm = ({ onDone }: { readonly onDone: () => void }) => {
  const [amount, setAmount] = useState("10.00")
  const spends = unitsOf(amount)
  return (
    <AskingForm
      class="new-key"
      action="Make the key"
      ready={spends !== undefined}
      ask={(said) =>
        makeKey({
          name: said("name"),
          remain_quota: spends ?? 0,
          expired_time: expiry(said("expires")),
          subnet: said("subnet"),
          ...limitsSaid(said)
        })
      }
      onDone={onDone}
    >
      <Field label="Name" hint="To know it by: the program or the person that has it.">
        {(id) => <input id={id} name="name" required maxLength={100} autocomplete="off" />}
      </Field>
      <div class="pair">
        <AmountField label="May spend, in USD" value={amount} onValue={setAmount} />
        <Field label="Expires">
          {(id) => (
            <select id={id} name="expires">
              {Object.entries(DAYS).map(([days, name]) => (
                <option key={days} value={days} selected={days === "never"}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <Field label="Only from (optional)" hint="Networks, separated by commas. Empty: from everywhere.">
        {(id) => <input id={id} name="subnet" spellcheck={false} placeholder="10.0.0.0/8, 2001:db8::/32" />}
      </Field>
      <LimitFields otherwise="Empty: as many as each key of yours." />
    </AskingForm>
  )
}
