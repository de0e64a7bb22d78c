/** Limits per minute of a key or a user. */
import type { Limits } from "../api/account.ts"
import type { FieldReader } from "./ActionForm.tsx"
import { Field } from "./Fields.tsx"

/** The largest limit that the server accepts. */
const LARGEST_LIMIT = 999_999_999_999

/** Reads the fields below; an empty field is 0, no limit. */
export const readLimits = (read: FieldReader): Limits => ({
  requests_per_minute: Number(read("requests")),
  tokens_per_minute: Number(read("tokens"))
})

/** `90 requests per minute`; empty without limits. */
export const describeLimits = (limits: Partial<Limits>): ReadonlyArray<string> => {
  const { requests_per_minute: requests = 0, tokens_per_minute: tokens = 0 } = limits
  return [
    ...(requests > 0 ? [`${requests.toLocaleString()} requests per minute`] : []),
    ...(tokens > 0 ? [`${tokens.toLocaleString()} tokens per minute`] : [])
  ]
}

interface Props {
  readonly now?: Limits
  /** Says what an empty field means. */
  readonly hint: string
}

export const LimitFields = ({ hint, now }: Props) => (
  <div class="pair">
    {(
      [
        ["requests", now?.requests_per_minute],
        ["tokens", now?.tokens_per_minute]
      ] as const
    ).map(([name, value]) => (
      <Field
        key={name}
        label={`${name === "requests" ? "Requests" : "Tokens"} per minute (optional)`}
        hint={hint}
      >
        {(id) => (
          <input
            id={id}
            name={name}
            type="number"
            min={1}
            max={LARGEST_LIMIT}
            step={1}
            autocomplete="off"
            defaultValue={value === undefined || value === 0 ? "" : String(value)}
          />
        )}
      </Field>
    ))}
  </div>
)
