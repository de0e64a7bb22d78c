/** Which models there are: two lists of the interface, and one where common clients look. */
import { Effect } from "effect"
import { type Check, check } from "../framework/Check.ts"
import { at, fault, listAt } from "../framework/Json.ts"
import { ours, promised } from "../framework/Rule.ts"

const withId = (json: unknown) => {
  const data = listAt(json, "data")
  const wrong = data.filter((model) => typeof at(model, "id") !== "string").length
  return fault(wrong === 0, `${wrong} of ${data.length} have none`)
}

const isList = (json: unknown) => fault(Array.isArray(at(json, "data")), "it is none")

const ACCOUNT = "Endpoints › Account management"

const all = check({
  call: "GET /api/models",
  section: ACCOUNT,
  form: promised(ACCOUNT, "the answer has the models in `data`"),
  request: () => ({}),
  rules: {
    list: promised(ACCOUNT, "`data` is an array"),
    ids: promised("Model entry", "each model has an `id`, a text")
  },
  run: ({ answer: { json }, judge }) =>
    Effect.sync(() => {
      judge("list", isList(json))
      if (isList(json) === undefined) judge("ids", withId(json))
    })
})

const available = check({
  call: "GET /api/user/available_models",
  section: ACCOUNT,
  form: promised(ACCOUNT, "the answer has the models in `data`"),
  request: () => ({}),
  rules: {
    list: promised(ACCOUNT, "`data` is an array"),
    ids: ours(ACCOUNT, "each model has an `id`, a text")
  },
  run: ({ answer: { json }, judge }) =>
    Effect.sync(() => {
      judge("list", isList(json))
      if (isList(json) === undefined) judge("ids", withId(json))
    })
})

const callable = check({
  call: "GET /v1/models",
  kind: "our choice",
  section: ACCOUNT,
  form: ours(ACCOUNT, "the answer has the models in `data`"),
  request: () => ({}),
  rules: { ids: ours("Model entry", "each model has an `id`, a text") },
  run: ({ answer: { json }, judge }) => Effect.sync(() => judge("ids", isList(json) ?? withId(json)))
})

export const models: ReadonlyArray<Check> = [callable, all, available]
