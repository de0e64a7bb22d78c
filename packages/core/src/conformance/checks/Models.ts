/** The lists of models: two of the interface, and the one that OpenAI clients use. */
import { Effect } from "effect"
import { type Check, check } from "../framework/Check.ts"
import { at, failUnless, interfaceRule, listAt, ownRule } from "../framework/Rule.ts"

const withId = (json: unknown) => {
  const data = listAt(json, "data")
  const invalid = data.filter((model) => typeof at(model, "id") !== "string").length
  return failUnless(invalid === 0, `${invalid} of ${data.length} have none`)
}

const isList = (json: unknown) => failUnless(Array.isArray(at(json, "data")), "it is not a list")

const ACCOUNT = "Endpoints › Account management"

const all = check({
  call: "GET /api/models",
  section: ACCOUNT,
  form: interfaceRule(ACCOUNT, "the answer has the models in `data`"),
  request: () => ({}),
  rules: {
    list: interfaceRule(ACCOUNT, "`data` is an array"),
    ids: interfaceRule("Model entry", "each model has an `id`, a text")
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
  form: interfaceRule(ACCOUNT, "the answer has the models in `data`"),
  request: () => ({}),
  rules: {
    list: interfaceRule(ACCOUNT, "`data` is an array"),
    ids: ownRule(ACCOUNT, "each model has an `id`, a text")
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
  form: ownRule(ACCOUNT, "the answer has the models in `data`"),
  request: () => ({}),
  rules: { ids: ownRule("Model entry", "each model has an `id`, a text") },
  run: ({ answer: { json }, judge }) => Effect.sync(() => judge("ids", isList(json) ?? withId(json)))
})

export const models: ReadonlyArray<Check> = [callable, all, available]
