/** The API keys: created, enabled, disabled and deleted. */
import { useSignal } from "@preact/signals"
import { EditableList } from "../page/PagedList.tsx"
import { ActionForm, Confirm, describeLimits, LimitFields, readLimits } from "../ui/ActionForm.tsx"
import { IconButton } from "../ui/Button.tsx"
import { AmountField, InputField, SelectField, Switch } from "../ui/Fields.tsx"
import { dayOf, parseUsd, usd } from "../ui/format.ts"
import { keyChanges, type KeyDetails, keys, makeKey, removeKey, toggleKey } from "./account.ts"

/** Days until a new key expires. A map keeps this order; an object would put the numbers first. */
const EXPIRY = new Map([
  ["never", "Never"],
  ["7", "In a week"],
  ["30", "In 30 days"],
  ["365", "In a year"]
])

const DOCUMENTS = new Map([
  ["write", "Read and change"],
  ["read", "Read"],
  ["none", "No access"]
])

const expiryTime = (days: string): number =>
  days === "never" ? -1 : Math.floor(Date.now() / 1000) + Number(days) * 24 * 60 * 60

const NewKeyForm = ({ onDone }: { readonly onDone: () => void }) => {
  const amount = useSignal("10.00")
  const limit = parseUsd(amount.value)
  return (
    <ActionForm
      class="new-key"
      actions={["Create the key"]}
      ready={limit !== undefined}
      send={(read) =>
        makeKey({
          name: read("name"),
          remain_quota: limit ?? 0,
          expired_time: expiryTime(read("expires")),
          subnet: read("subnet"),
          documents: read("documents"),
          ...readLimits(read)
        })
      }
      onDone={onDone}
    >
      <InputField label="Name" hint="Which app or person uses it?" name="name" required maxLength={100} />
      <div class="columns">
        <AmountField label="Spending limit, in USD" text={amount} />
        <SelectField label="Expires" name="expires" value="never" values={EXPIRY} />
      </div>
      <SelectField label="Documents" name="documents" value="write" values={DOCUMENTS} />
      <InputField
        label="Allowed networks (optional)"
        hint="Separated by commas. Leave empty to allow all."
        name="subnet"
        spellcheck={false}
        placeholder="10.0.0.0/8, 2001:db8::/32"
      />
      <LimitFields hint="Leave empty to use the account’s limit." />
    </ActionForm>
  )
}

const describeExpiry = (seconds: number): string => {
  if (seconds < 0) return "never expires"
  return `${seconds * 1000 < Date.now() ? "expired" : "expires"} ${dayOf(seconds)}`
}

const Row = ({ of: key }: { readonly of: KeyDetails }) => {
  const enabled = key.status === 1
  return (
    <li data-enabled={enabled}>
      <p class="name">{key.name}</p>
      <p class="row quiet facts-line">
        <code>{key.key ?? ""}</code>
        <span>{usd(key.remain_quota)} left</span>
        <span>{describeExpiry(key.expired_time)}</span>
        {describeLimits(key).map((limit) => (
          <span key={limit}>{limit}</span>
        ))}
        {key.documents === "read" && <span>reads documents</span>}
        {key.documents === "none" && <span>no documents</span>}
        {key.subnet && <span>from {key.subnet}</span>}
      </p>
      <div class="row actions">
        <Switch label={`${key.name} is enabled`} on={enabled} onToggle={() => toggleKey(key)} />
        <Confirm
          action="Delete"
          onConfirm={() => removeKey(key)}
          opener={(open) => <IconButton label={`Delete ${key.name}`} sign="×" onClick={open} />}
        >
          Delete <b>{key.name}</b>? Programs that use it will be refused.
        </Confirm>
      </div>
    </li>
  )
}

export const KeyList = () => (
  <EditableList
    title="API keys"
    add="New key"
    Form={NewKeyForm}
    changes={keyChanges}
    list={keys}
    Row={Row}
    empty="No keys yet. Programs need one to call this server."
  />
)
