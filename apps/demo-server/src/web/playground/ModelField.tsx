/** Which model is tried, and what it is and is not. */
import { models } from "../models/models.ts"
import { aboutModel, choose, modelOf, OPERATIONS } from "./chosenModel.ts"
import { modelsFor } from "../models/models.ts"
import type { Capability } from "../page/route.ts"
import { Field } from "../ui/Fields.tsx"

export const ModelField = ({ capability }: { readonly capability: Capability }) => {
  const now = modelOf(capability)
  const known = modelsFor(OPERATIONS[capability])
  const about = aboutModel(capability).value
  const hint = [about?.group === about?.operation ? undefined : about?.group, about?.note]
    .filter((each) => each !== undefined)
    .join(" · ")
  // Of a gateway that does not say what it has, the name is written.
  const isWritten = models.value !== undefined && known.length === 0
  return (
    <Field
      label="Model"
      hint={
        isWritten
          ? "The server does not say which of its models can do this: write the name of one."
          : hint || "\u00a0"
      }
    >
      {(id) =>
        isWritten ? (
          <input
            id={id}
            required
            spellcheck={false}
            value={now}
            onInput={(event) => choose(capability, event.currentTarget.value.trim())}
          />
        ) : (
          <select id={id} value={now} onChange={(event) => choose(capability, event.currentTarget.value)}>
            {!known.some((model) => model.id === now) && <option value={now}>{now}</option>}
            {known.map((model) => (
              <option key={model.id} value={model.id} selected={model.id === now}>
                {model.id}
              </option>
            ))}
          </select>
        )
      }
    </Field>
  )
}
