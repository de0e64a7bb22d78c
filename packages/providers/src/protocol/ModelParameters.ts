/** Parameters that models refuse: configured, known of families of models, or learnt from a refusal. */
import { parseErrorBody } from "@sluice/core/client"
import type { Fields } from "./Dialect.ts"
import { type Adjustment, familyOf } from "./ModelFamilies.ts"

/** Parameters that have a second name, or that a request works without. */
const ADJUSTMENTS: ReadonlyArray<readonly [name: string, Adjustment]> = [
  ["max_tokens", { rename: { max_tokens: "max_completion_tokens" } }],
  ...["temperature", "top_p", "presence_penalty", "frequency_penalty"].map(
    (name) => [name, { drop: [name] }] as const
  )
]

/** How vendors refuse a parameter itself. Other errors name it too: a value out of range is the caller's mistake. */
const REFUSED_CODE = /^unsupported_(?:parameter|value)$/
const REFUSED_MESSAGE =
  /\b(?:unsupported|not support(?:ed)?|unknown|unrecogni[sz]ed|deprecated|not permitted)\b|\buse 'max_completion_tokens'/i

const adjust = (fields: Fields, { drop = [], rename = {} }: Adjustment): Fields => {
  if (![...drop, ...Object.keys(rename)].some((name) => name in fields)) return fields
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      drop.includes(name) ? [] : [[rename[name] ?? name, value]]
    )
  )
}

/** The parameters of one vendor's models. `configured` applies to all of them. */
export const makeModelParameters = (configured: Adjustment) => {
  const learnt = new Map<string, ReadonlyArray<Adjustment>>()
  return {
    /** The request as the model accepts it; the same object if nothing changes. */
    apply: (model: string, fields: Fields): Fields =>
      [configured, familyOf(model), ...(learnt.get(model) ?? [])].reduce(adjust, fields),
    /** Whether a refusal names a parameter that the next request can do without. */
    learn: (model: string, sent: Fields, refusal: unknown): boolean => {
      const { code, message = "", param } = parseErrorBody(refusal) ?? {}
      if (!REFUSED_CODE.test(`${code}`) && !REFUSED_MESSAGE.test(message)) return false
      const names = (name: string) =>
        name in sent && (param === name || new RegExp(`\\b${name}\\b`).test(message))
      const adjustment = ADJUSTMENTS.find(([name]) => names(name))?.[1]
      if (adjustment === undefined) return false
      learnt.set(model, [...(learnt.get(model) ?? []), adjustment])
      return true
    }
  }
}

export type ModelParameters = ReturnType<typeof makeModelParameters>
