/** Form fields: a label, the control, a hint. */
import type { Signal } from "@preact/signals"
import type { ComponentChildren, ComponentProps } from "preact"
import { useId } from "preact/hooks"
import { pluralize, parseUsd } from "./format.ts"

interface FieldProps {
  readonly label: string
  readonly hint?: ComponentChildren
}

type Labelled = FieldProps & { readonly children: (id: string) => ComponentChildren }

export const Field = ({ children, hint, label }: Labelled) => {
  const id = useId()
  return (
    <div class="stack tight field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {hint !== undefined && <p class="quiet">{hint}</p>}
    </div>
  )
}

export const InputField = ({ hint, label, ...input }: FieldProps & ComponentProps<"input">) => (
  <Field label={label} hint={hint}>
    {(id) => <input id={id} autocomplete="off" {...input} />}
  </Field>
)

type TextProps = FieldProps & { readonly text: Signal<string> }

export const bindText = (text: Signal<string>) => ({
  value: text.value,
  onInput: (event: InputEvent) => (text.value = (event.currentTarget as HTMLInputElement).value)
})

interface TextAreaProps extends TextProps {
  readonly rows?: number
  /** Enter sends the form; Shift with Enter starts a new line. */
  readonly enterSends?: boolean
  readonly optional?: boolean
}

/** Sends the form on Enter. Shift with Enter starts a new line. */
export const sendOnEnter = (event: KeyboardEvent): void => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
  event.preventDefault()
  if (event.target instanceof HTMLTextAreaElement) event.target.form?.requestSubmit()
}

/** A text of several lines. Ctrl or Command with Enter sends the form. */
export const TextField = ({ enterSends, hint, label, optional, rows = 2, text }: TextAreaProps) => (
  <Field label={label} hint={hint}>
    {(id) => (
      <textarea
        id={id}
        rows={rows}
        {...bindText(text)}
        required={optional !== true}
        onKeyDown={(event) => {
          if (event.ctrlKey || event.metaKey || enterSends === true) sendOnEnter(event)
        }}
      />
    )}
  </Field>
)

interface SelectProps extends Omit<ComponentProps<"select">, "value"> {
  readonly value: string
  /** A map has the text of each; otherwise the value itself is shown. */
  readonly values: ReadonlyArray<string> | ReadonlyMap<string, string>
  /** Absent: the choice is read from the form, by `name`. */
  readonly onValue?: (value: string) => void
}

export const Select = ({ onValue, value, values, ...props }: SelectProps) => {
  const choices = [...values].map((each) => (typeof each === "string" ? [each, each] : each))
  const controlled = onValue && {
    value,
    onChange: (event: Event) => onValue((event.currentTarget as HTMLSelectElement).value)
  }
  return (
    <select {...(props as object)} {...controlled}>
      {choices.map(([each, shown]) => (
        <option key={each} value={each} selected={each === value}>
          {shown}
        </option>
      ))}
    </select>
  )
}

export const SelectField = ({ hint, label, ...props }: SelectProps & FieldProps) => (
  <Field label={label} hint={hint}>
    {(id) => <Select {...props} id={id} />}
  </Field>
)

type ChoiceProps<A> = FieldProps & { readonly values: ReadonlyArray<string>; readonly choice: Signal<A> }

export const ChoiceField = <A extends string>({ choice, ...props }: ChoiceProps<A>) => (
  <SelectField {...props} value={choice.value} onValue={(value) => (choice.value = value as A)} />
)

/** An amount in USD. The hint shows it in quota units; the given one is shown while the field is empty. */
export const AmountField = ({ hint, label, text }: TextProps) => {
  const amount = parseUsd(text.value)
  const untouched = text.value === "" && hint !== undefined
  const units =
    amount === undefined ? "An amount such as 2.50, with up to six decimals." : pluralize(amount, "unit")
  return (
    <InputField
      label={label}
      hint={untouched ? hint : units}
      inputMode="decimal"
      required
      aria-invalid={amount === undefined && !untouched}
      {...bindText(text)}
    />
  )
}

/** Filters a list while it is typed into. */
export const SearchField = ({ label, hint = "Find by name", text }: TextProps & { hint?: string }) => (
  <label class="row filter">
    <span class="visually-hidden">{label}</span>
    <input type="search" placeholder={hint} {...bindText(text)} />
  </label>
)

export const Switch = ({ label, on, onToggle }: { label: string; on: boolean; onToggle: () => void }) => (
  <label class="toggle quiet">
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

type SegmentsProps<K extends string> = {
  legend: string
  choices: Readonly<Record<K, string>>
  value: Signal<K>
}

export const Segments = <K extends string>({ choices, legend, value }: SegmentsProps<K>) => (
  <fieldset class="segments">
    <legend class="visually-hidden">{legend}</legend>
    {(Object.keys(choices) as Array<K>).map((each) => (
      <label key={each}>
        <input
          type="radio"
          name={legend}
          checked={each === value.value}
          onChange={() => (value.value = each)}
        />
        <span class="quiet">{choices[each]}</span>
      </label>
    ))}
  </fieldset>
)
