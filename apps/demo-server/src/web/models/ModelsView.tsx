/** All models: of which group, for which operation, what each is and is not. */
import { useState } from "preact/hooks"
import type { Model } from "../api/gateway.ts"
import { counted } from "../ui/counted.ts"
import { models, modelsFailure } from "./models.ts"
import { Loading } from "../ui/Loading.tsx"
import { groupNote } from "./groups.ts"
import { ModelRow } from "./ModelRow.tsx"
import { OPERATION_NAMES } from "./operations.ts"
import { Problem } from "../ui/Problem.tsx"

const FILTER_FROM = 12

/** In the order of the page; what does not say its operation comes last. */
const sectionsOf = (found: ReadonlyArray<Model>) =>
  [...Object.keys(OPERATION_NAMES), undefined]
    .map((operation) => ({
      operation,
      rows: found.filter((model) =>
        operation === undefined
          ? model.operation === undefined || !(model.operation in OPERATION_NAMES)
          : model.operation === operation
      )
    }))
    .filter(({ rows }) => rows.length > 0)

export const ModelsView = () => {
  const [filter, setFilter] = useState("")
  const all = models.value
  const words = filter.toLowerCase().split(/\s+/)
  const found = (all ?? []).filter((model) => {
    const text = [...Object.values(model), groupNote(model.group)].join(" ").toLowerCase()
    return words.every((word) => text.includes(word))
  })
  return (
    <div class="model-list">
      <h1>Models</h1>
      <Problem failure={modelsFailure.value} />
      <Loading until={all !== undefined || modelsFailure.value !== undefined} />
      {all?.length === 0 && (
        <p class="lead">The server serves no model: give it a gateway, or start it without one.</p>
      )}
      {all !== undefined && all.length > FILTER_FROM && (
        <label class="filter">
          <span class="unseen">Find a model</span>
          <input
            type="search"
            placeholder="Find by name, group or what it is"
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        </label>
      )}
      {all !== undefined && all.length > 0 && <output class="quiet">{counted(found.length, "model")}</output>}
      {sectionsOf(found).map(({ operation, rows }) => (
        <section key={operation ?? ""} aria-label={operation ?? "Others"}>
          <h2>{operation === undefined ? "Others" : OPERATION_NAMES[operation]}</h2>
          <ul>
            {rows.map((model) => (
              <ModelRow key={model.id} model={model} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}
