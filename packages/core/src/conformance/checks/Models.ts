/** The lists of models: two of the interface, and the one that OpenAI clients use. */
import { Effect } from "effect"
import { type Check, check } from "../framework/Check.ts"
import type { CallName } from "../framework/Contract.ts"
import { at, listAt, type RuleKind } from "../framework/Rule.ts"

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

export const models: ReadonlyArray<Check> = [
  modelList("GET /v1/models", "our choice"),
  modelList("GET /api/models", "interface"),
  modelList("GET /api/user/available_models", "interface", "our choice")
]
