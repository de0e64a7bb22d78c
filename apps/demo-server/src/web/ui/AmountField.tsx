/** An amount of money, written in USD and understood in units. */
import { units, unitsOf } from "./money.ts"
import { Field } from "./Fields.tsx"

interface Props {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  /** What stands below it while nothing is written. */
  readonly hint?: string
}

export const AmountField = ({ hint, label, onValue, value }: Props) => {
  const amount = unitsOf(value)
  const untouched = value === "" && hint !== undefined
  const said = amount === undefined ? "An amount such as 2.50, to six decimals." : units(amount)
  return (
    <Field label={label} hint={untouched ? hint : said}>
      {(id) => (
        <input
          id={id}
          inputMode="decimal"
          required
          value={value}
          autocomplete="off"
          aria-invalid={amount === undefined && !untouched}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}
