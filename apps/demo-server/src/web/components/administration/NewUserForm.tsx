/** A new user: their name, what they begin with, and what they may do. */
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { makeUser } from "../../state/administration.ts"
import { units, unitsOf } from "../../state/money.ts"
import { Field } from "../playground/Fields.tsx"

interface Props {
  readonly onMade: () => void
  readonly onCancel: () => void
}

export const NewUserForm = ({ onCancel, onMade }: Props) => {
  const [busy, setBusy] = useState(false)
  const [amount, setAmount] = useState("10.00")
  const form = useRef<HTMLFormElement>(null)
  const quota = unitsOf(amount)
  useLayoutEffect(() => form.current?.querySelector("input")?.focus(), [])
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (quota === undefined || busy) return
    const data = new FormData(event.currentTarget as HTMLFormElement)
    const username = String(data.get("username") ?? "").trim()
    setBusy(true)
    const made = await makeUser({ username, quota, role: data.get("role") === "admin" ? "admin" : "user" })
    setBusy(false)
    if (made) onMade()
  }
  return (
    <form class="new-key" ref={form} onSubmit={submit} aria-busy={busy}>
      <Field label="Name" hint="They sign in with a system access token, which is shown once.">
        {(id) => <input id={id} name="username" required maxLength={100} autocomplete="off" />}
      </Field>
      <div class="pair">
        <Field
          label="Balance to begin with, in USD"
          hint={quota === undefined ? "An amount such as 2.50, to six decimals." : units(quota)}
        >
          {(id) => (
            <input
              id={id}
              inputMode="decimal"
              required
              value={amount}
              aria-invalid={quota === undefined}
              onInput={(event) => setAmount(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field label="Role" hint="Administrators make users and see the log.">
          {(id) => (
            <select id={id} name="role">
              <option value="user">User</option>
              <option value="admin">Administrator</option>
            </select>
          )}
        </Field>
      </div>
      <div class="send">
        <button class="button primary" type="submit" disabled={busy || quota === undefined}>
          Make the user
        </button>
        <button class="button" type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  )
}
