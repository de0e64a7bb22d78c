/** The lists of models: two of the interface, and the one that OpenAI clients use. */
import { Effect, Predicate } from "effect"
import { type Check, check } from "../framework/Check.ts"
import type { CallName } from "../framework/Contract.ts"
import { at, failUnless, listAt, type RuleKind } from "../framework/Rule.ts"

const ACCOUNT = "Endpoints › Account management"

/** The check of one list. */
const modelList = (call: CallName, kind: RuleKind, idKind = kind) =>
  check({
    call,
    kind,
    section: ACCOUNT,
    form: { kind, section: ACCOUNT, says: "the response has the models in `data`" },
    request: () => ({}),
    rules: {
      list: { kind, section: ACCOUNT, says: "`data` is an array" },
      ids: { kind: idKind, section: "Model entry", says: "each model has an `id`, a text" }
    },
    run: ({ response: { json }, expect }) =>
      Effect.sync(() => {
        const isList = Array.isArray(at(json, "data"))
        expect("list", isList, "it is not a list")
        if (!isList) return "there is no list"
        const models = listAt(json, "data")
        const invalid = models.filter((model) => typeof at(model, "id") !== "string").length
        expect("ids", invalid === 0, `${invalid} of ${models.length} have none`)
        return undefined
      })
  })

const AVAILABLE = "GET /api/user/available_models"

const available = modelList(AVAILABLE, "interface", "our choice")

/** The ids of a list in any form: objects, texts, or lists of texts by channel. */
const idsIn = (json: unknown): ReadonlyArray<unknown> => {
  const data = at(json, "data")
  const models = Predicate.isObject(data) ? Object.values(data).flat() : listAt(json, "data")
  return models.map((model) => (typeof model === "string" ? model : at(model, "id")))
}

/** The models of a user are among all models. */
const availableModels: Check = {
  ...available,
  rules: {
    ...available.rules,
    within: {
      kind: "interface",
      section: "Authentication 6",
      says: "each model is in the list of all models"
    }
  },
  run: Effect.fnUntraced(function* (context) {
    const stopped = yield* available.run(context)
    if (stopped !== undefined) return stopped
    yield* context.expectSuccess(
      "within",
      {},
      ({ json }) => {
        const all = new Set(idsIn(json))
        const foreign = idsIn(context.response.json).filter((id) => !all.has(id))
        return failUnless(foreign.length === 0, `not among them: ${foreign.slice(0, 5).join(", ")}`)
      },
      { call: "GET /api/models" }
    )
    return undefined
  })
}

export const models: ReadonlyArray<Check> = [
  modelList("GET /v1/models", "our choice"),
  modelList("GET /api/models", "interface"),
  availableModels
]
