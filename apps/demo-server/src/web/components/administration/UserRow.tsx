/** One user: enabled or disabled, given to and taken from, a new token where the old one was lost. */
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import type { User } from "../../api/administration.ts"
import { changeUser, renewAccess } from "../../state/administration.ts"
import { units, unitsOf, usd } from "../../state/money.ts"
import { who } from "../../state/session.ts"
import { Field } from "../playground/Fields.tsx"

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" })

const Balance = ({ onDone, user }: { readonly user: User; readonly onDone: () => void }) => {
  const [amount, setAmount] = useState("")
  const form = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => form.current?.querySelector("input")?.focus(), [])
  const given = unitsOf(amount)
  const move = async (sign: 1 | -1) => {
    if (given === undefined) return
    const said =
      sign === 1 ? `${usd(given)} given to ${user.username}.` : `${usd(given)} taken from ${user.username}.`
    if (await changeUser({ id: user.id, add_quota: sign * given }, said)) onDone()
  }
  return (
    <form
      class="row-form"
      ref={form}
      onSubmit={(event) => {
        event.preventDefault()
        void move(1)
      }}
    >
      <Field
        label={`Amount for ${user.username}, in USD`}
        hint={given === undefined ? `${usd(user.quota)} now.` : units(given)}
      >
        {(id) => (
          <input
            id={id}
            inputMode="decimal"
            required
            value={amount}
            autocomplete="off"
            onInput={(event) => setAmount(event.currentTarget.value)}
          />
        )}
      </Field>
      <div class="send">
        <button class="button primary" type="submit" disabled={given === undefined}>
          Give
        </button>
        <button class="button" type="button" disabled={given === undefined} onClick={() => move(-1)}>
          Take
        </button>
        <button class="link" type="button" onClick={onDone}>
          Cancel
        </button>
      </div>
    </form>
  )
}

const Renewal = ({ onDone, user }: { readonly user: User; readonly onDone: () => void }) => {
  const keep = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => keep.current?.focus(), [])
  const renew = () => {
    onDone()
    void renewAccess(user)
  }
  return (
    <fieldset class="row-form" aria-label={`New token for ${user.username}?`}>
      <p>The token that {user.username} has now ends with it.</p>
      <div class="send">
        <button class="button danger" type="button" onClick={renew}>
          End the old one
        </button>
        <button ref={keep} class="button" type="button" onClick={onDone}>
          Keep it
        </button>
      </div>
    </fieldset>
  )
}

export const UserRow = ({ user }: { readonly user: User }) => {
  const [doing, setDoing] = useState<"balance" | "token" | undefined>(undefined)
  const first = useRef<HTMLButtonElement>(null)
  const { created_time, id, quota, role, status, username } = user
  const enabled = status === 1
  const self = who.value?.user === id
  const done = () => {
    setDoing(undefined)
    first.current?.focus()
  }
  const toggle = () =>
    changeUser({ id, status: enabled ? 0 : 1 }, `${username} is ${enabled ? "disabled" : "enabled"}.`)
  return (
    <li data-enabled={enabled}>
      <p class="name">{username}</p>
      <p class="facts-line quiet">
        <span>{role === "admin" ? "administrator" : "user"}</span>
        <span>{usd(quota)} left</span>
        <span>since {day.format(new Date(created_time * 1000))}</span>
      </p>
      <div class="actions">
        <button
          ref={first}
          class="link"
          type="button"
          aria-expanded={doing === "balance"}
          aria-label={`Balance of ${username}`}
          onClick={() => setDoing(doing === "balance" ? undefined : "balance")}
        >
          Balance
        </button>
        {!self && (
          <>
            <button
              class="link"
              type="button"
              aria-expanded={doing === "token"}
              aria-label={`New token for ${username}`}
              onClick={() => setDoing(doing === "token" ? undefined : "token")}
            >
              New token
            </button>
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
          </>
        )}
      </div>
      {doing === "balance" && <Balance user={user} onDone={done} />}
      {doing === "token" && <Renewal user={user} onDone={done} />}
    </li>
  )
}
