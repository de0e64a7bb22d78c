/** How much may be called in a minute. Empty: no limit but what holds anyway. */
import type { Limits } from "../api/account.ts"
import type { Said } from "./ActionForm.tsx"
import { Field } from "./Fields.tsx"

/** The largest that the server understands: LARGEST_LIMIT there. */
const MOST = 999_999_999_999

/** What was written, as the server takes it: 0 is no limit. */
export const limitsSaid = (said: Said): Limits => ({
  requests_per_minute: Number(said("requests")),
  tokens_per_minute: Number(said("tokens"))
})

/** Limits in words; none where there are none. */
export const limitsInWords = (limits: Partial<Limits>): ReadonlyArray<string> => {
  const { requests_per_minute: requests = 0, tokens_per_minute: tokens = 0 } = limits
  return [
    ...(requests > 0 ? [`${requests.toLocaleString()} calls a minute`] : []),
    ...(tokens > 0 ? [`${tokens.toLocaleString()} tokens a minute`] : [])
  ]
}

interface Props {
  readonly now?: Limits
  /** What holds where nothing is written. */
  readonly otherwise: string
}

export const LimitFields = ({ now, otherwise }: Props) => (
  <div class="pair">
    {(
      [
        ["requests", "Calls a minute (optional)", now?.requests_per_minute],
        ["tokens", "Tokens a minute (optional)", now?.tokens_per_minute]
      ] as const
    ).map(([name, label, value]) => (
      <Field key={name} label={label} hint={otherwise}>
        {(id) => (
          <input
            id={id}
            name={name}
            type="number"
            min={1}
            max={MOST}
            step={1}
            autocomplete="off"
            defaultValue={value === undefined || value === 0 ? "" : String(value)}
          />
        )}
      </Field>
    ))}
  </div>
)
