/** The lists of models: two of the interface, and the one that OpenAI clients use. */
import { Effect, Predicate } from "effect"
import { type Check, check } from "../framework/Check.ts"
import type { CallName } from "../framework/Contract.ts"
import type { GatewayResponse } from "../framework/Request.ts"
import { at, failUnless, interfaceRule, listAt, type RuleKind } from "../framework/Rule.ts"

const ACCOUNT = "Endpoints › Account management"

const WITHIN = interfaceRule("Authentication 6", "each model is in the list of all models")

/** The ids of a list in any form: objects, texts, or lists of texts by channel. */
const idsIn = (json: unknown): ReadonlyArray<unknown> => {
  const data = at(json, "data")
  const models = Predicate.isObject(data) ? Object.values(data).flat() : listAt(json, "data")
  return models.map((model) => (typeof model === "string" ? model : at(model, "id")))
}

/** The check of one list, whose models are among those of `all`. */
const modelList = (call: CallName, kind: RuleKind, idKind = kind, all?: CallName) =>
  check<string>({
    call,
    kind,
    section: ACCOUNT,
    form: { kind, section: ACCOUNT, says: "the response has the models in `data`" },
    request: () => ({}),
    rules: {
      list: { kind, section: ACCOUNT, says: "`data` is an array" },
      ids: { kind: idKind, section: "Model entry", says: "each model has an `id`, a text" },
      ...(all !== undefined && { within: WITHIN })
    },
    run: Effect.fnUntraced(function* ({ response: { json }, expect, expectSuccess }) {
      const isList = Array.isArray(at(json, "data"))
      expect("list", isList, "it is not a list")
      if (!isList) return "there is no list"
      const models = listAt(json, "data")
      const invalid = models.filter((model) => typeof at(model, "id") !== "string").length
      expect("ids", invalid === 0, `${invalid} of ${models.length} have none`)
      if (all === undefined) return undefined
      const judge = (response: GatewayResponse) => {
        const known = new Set(idsIn(response.json))
        const foreign = idsIn(json).filter((id) => !known.has(id))
        return failUnless(foreign.length === 0, `not among them: ${foreign.slice(0, 5).join(", ")}`)
      }
      yield* expectSuccess("within", {}, judge, { call: all })
      return undefined
    })
  })

export const models: ReadonlyArray<Check> = [
  modelList("GET /v1/models", "our choice"),
  modelList("GET /api/models", "interface"),
  modelList("GET /api/user/available_models", "interface", "our choice", "GET /api/models")
]
