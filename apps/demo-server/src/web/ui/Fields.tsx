/** Form fields: a label, the control, a hint. */
import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"
import { counted, parseUsd } from "./format.ts"

interface FieldProps {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly children: (id: string) => ComponentChildren
}

export const Field = ({ children, hint, label }: FieldProps) => {
  const id = useId()
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {hint !== undefined && <p class="quiet">{hint}</p>}
    </div>
  )
}

interface TextProps {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly rows?: number
  readonly hint?: ComponentChildren
  /** Enter sends the form; Shift with Enter starts a new line. */
  readonly enterSends?: boolean
  readonly optional?: boolean
}

/** A text of several lines. Ctrl or Command with Enter sends the form. */
export const TextField = ({ enterSends, hint, label, onValue, optional, rows = 2, value }: TextProps) => (
  <Field label={label} hint={hint}>
    {(id) => (
      <textarea
        id={id}
        rows={rows}
        value={value}
        required={optional !== true}
        onInput={(event) => onValue(event.currentTarget.value)}
        onKeyDown={(event) => {
          const sends = event.ctrlKey || event.metaKey || (enterSends === true && !event.shiftKey)
          if (event.key !== "Enter" || !sends || event.isComposing) return
          event.preventDefault()
          event.currentTarget.form?.requestSubmit()
        }}
      />
    )}
  </Field>
)

interface SelectProps {
  readonly label: string
  readonly value: string
  readonly values: ReadonlyArray<string>
  readonly onValue?: (value: string) => void
  /** The text of an option. */
  readonly text?: (value: string) => string | undefined
  readonly hint?: string
  /** The name of the field in a form. */
  readonly name?: string
}

export const SelectField = ({ hint, label, name, onValue, text, value, values }: SelectProps) => (
  <Field label={label} hint={hint}>
    {(id) => (
      <select
        id={id}
        name={name}
        {...(onValue && { value, onChange: (event) => onValue(event.currentTarget.value) })}
      >
        {values.map((each) => (
          <option key={each} value={each} selected={each === value}>
            {text?.(each) ?? each}
          </option>
        ))}
      </select>
    )}
  </Field>
)

interface AmountProps {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  /** Shown while the field is empty. */
  readonly hint?: string
}

/** An amount in USD. The hint shows it in quota units. */
export const AmountField = ({ hint, label, onValue, value }: AmountProps) => {
  const amount = parseUsd(value)
  const untouched = value === "" && hint !== undefined
  const units =
    amount === undefined ? "An amount such as 2.50, with up to six decimals." : counted(amount, "unit")
  return (
    <Field label={label} hint={untouched ? hint : units}>
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

interface SearchProps {
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly onValue: (value: string) => void
}

/** Filters a list while it is typed into. */
export const SearchField = ({ label, onValue, placeholder, value }: SearchProps) => (
  <label class="filter">
    <span class="unseen">{label}</span>
    <input
      type="search"
      placeholder={placeholder}
      value={value}
      onInput={(event) => onValue(event.currentTarget.value)}
    />
  </label>
)

interface SwitchProps {
  readonly label: string
  readonly on: boolean
  readonly onToggle: () => void
}

/** Enabled or disabled. */
export const Switch = ({ label, on, onToggle }: SwitchProps) => (
  <label class="toggle">
    <input
      type="checkbox"
      role="switch"
      checked={on}
      aria-checked={on}
      aria-label={label}
      onChange={onToggle}
    />
    <span aria-hidden="true">{on ? "Enabled" : "Disabled"}</span>
  </label>
)

interface SegmentsProps<K extends string> {
  readonly legend: string
  /** The text of each choice. */
  readonly choices: Readonly<Record<K, string>>
  readonly value: K
  readonly onValue: (value: K) => void
}

/** One of a few choices, side by side. */
export const Segments = <K extends string>({ choices, legend, onValue, value }: SegmentsProps<K>) => (
  <fieldset class="segments">
    <legend class="unseen">{legend}</legend>
    {(Object.keys(choices) as Array<K>).map((each) => (
      <label key={each}>
        <input type="radio" name={legend} checked={each === value} onChange={() => onValue(each)} />
        <span>{choices[each]}</span>
      </label>
    ))}
  </fieldset>
)
