/** The fields of forms: a label, the field, and what is good to know. */
import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"

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
  /** Enter sends the form, with Shift it is a new line. */
  readonly enterSends?: boolean
  readonly optional?: boolean
}

/** A text of several lines; Ctrl or Command with Enter sends the form. */
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
  readonly onValue: (value: string) => void
  /** What a value is called. */
  readonly name?: (value: string) => string
}

export const SelectField = ({ label, name = (value) => value, onValue, value, values }: SelectProps) => (
  <Field label={label}>
    {(id) => (
      <select id={id} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {values.map((each) => (
          <option key={each} value={each} selected={each === value}>
            {name(each)}
          </option>
        ))}
      </select>
    )}
  </Field>
)
