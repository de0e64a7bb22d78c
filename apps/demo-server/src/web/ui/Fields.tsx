/** Form fields: a label, the control, a hint. */
import type { Signal } from "@preact/signals"
import type { ComponentChildren, ComponentProps } from "preact"
import { useId } from "preact/hooks"
import { pluralize, parseUsd } from "./format.ts"

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

type InputProps = Omit<FieldProps, "children"> & ComponentProps<"input">

export const InputField = ({ hint, label, ...input }: InputProps) => (
  <Field label={label} hint={hint}>
    {(id) => <input id={id} autocomplete="off" {...input} />}
  </Field>
)

interface TextProps extends Omit<FieldProps, "children"> {
  readonly text: Signal<string>
  readonly rows?: number
  /** Enter sends the form; Shift with Enter starts a new line. */
  readonly enterSends?: boolean
  readonly optional?: boolean
}

/** A text of several lines. Ctrl or Command with Enter sends the form. */
export const TextField = ({ enterSends, hint, label, optional, rows = 2, text }: TextProps) => (
  <Field label={label} hint={hint}>
    {(id) => (
      <textarea
        id={id}
        rows={rows}
        value={text.value}
        required={optional !== true}
        onInput={(event) => (text.value = event.currentTarget.value)}
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

interface SelectProps extends Omit<FieldProps, "children"> {
  readonly value: string
  readonly values: ReadonlyArray<string>
  /** Absent: the choice is read from the form, by `name`. */
  readonly onValue?: (value: string) => void
  readonly name?: string
  readonly text?: (value: string) => string | undefined
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
    amount === undefined ? "An amount such as 2.50, with up to six decimals." : pluralize(amount, "unit")
  return (
    <InputField
      label={label}
      hint={untouched ? hint : units}
      inputMode="decimal"
      required
      value={value}
      aria-invalid={amount === undefined && !untouched}
      onInput={(event) => onValue(event.currentTarget.value)}
    />
  )
}

interface SearchProps {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly placeholder?: string
}

/** Filters a list while it is typed into. */
export const SearchField = ({ label, onValue, placeholder = "Find by name", value }: SearchProps) => (
  <label class="filter">
    <span class="visually-hidden">{label}</span>
    <input
      type="search"
      placeholder={placeholder}
      value={value}
      onInput={(event) => onValue(event.currentTarget.value)}
    />
  </label>
)

export const Switch = ({ label, on, onToggle }: { label: string; on: boolean; onToggle: () => void }) => (
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
  readonly choices: Readonly<Record<K, string>>
  readonly value: K
  readonly onValue: (value: K) => void
}

/** One of a few choices, side by side. */
export const Segments = <K extends string>({ choices, legend, onValue, value }: SegmentsProps<K>) => (
  <fieldset class="segments">
    <legend class="visually-hidden">{legend}</legend>
    {(Object.keys(choices) as Array<K>).map((each) => (
      <label key={each}>
        <input type="radio" name={legend} checked={each === value} onChange={() => onValue(each)} />
        <span>{choices[each]}</span>
      </label>
    ))}
  </fieldset>
)
