/** What a new key may do: its name, how much it may spend, until when, and from where. */
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { makeKey } from "../../state/account.ts"
import { unitsOf, units } from "../../state/money.ts"
import { Field } from "../playground/Fields.tsx"

const DAYS = { never: "Never", 7: "In a week", 30: "In 30 days", 365: "In a year" } as const

const expiry = (days: string): number =>
  days === "never" ? -1 : Math.floor(Date.now() / 1000) + Number(days) * 24 * 60 * 60

interface Props {
  readonly onMade: () => void
  readonly onCancel: () => void
}

export const NewKeyForm = ({ onCancel, onMade }: Props) => {
  const [busy, setBusy] = useState(false)
  const [amount, setAmount] = useState("10.00")
  const form = useRef<HTMLFormElement>(null)
  const spends = unitsOf(amount)
  useLayoutEffect(() => form.current?.querySelector("input")?.focus(), [])
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (spends === undefined || busy) return
    const data = new FormData(event.currentTarget as HTMLFormElement)
    const text = (name: string) => String(data.get(name) ?? "").trim()
    setBusy(true)
    const made = await makeKey({
      name: text("name"),
      remain_quota: spends,
      expired_time: expiry(text("expires")),
      subnet: text("subnet")
    })
    setBusy(false)
    if (made) onMade()
  }
  return (
    <form class="new-key" ref={form} onSubmit={submit} aria-busy={busy}>
      <Field label="Name" hint="To know it by: the program or the person that has it.">
        {(id) => <input id={id} name="name" required maxLength={100} autocomplete="off" />}
      </Field>
      <div class="pair">
        <Field
          label="May spend, in USD"
          hint={spends === undefined ? "An amount such as 2.50, to six decimals." : units(spends)}
        >
          {(id) => (
            <input
              id={id}
              inputMode="decimal"
              required
              value={amount}
              aria-invalid={spends === undefined}
              onInput={(event) => setAmount(event.currentTarget.value)}
            />
          )}
        </Field>
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
      <div class="send">
        <button class="button primary" type="submit" disabled={busy || spends === undefined}>
          Make the key
        </button>
        <button class="button" type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  )
}
