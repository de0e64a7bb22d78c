/** Who makes the request at hand, from where, and what the credential lets them use. */
import { Failure } from "@sluice/core/contract"
import { Context } from "effect"
import type { SaidLimits } from "./KeyLimits.ts"

export interface CallerInfo {
  /** The user's id; empty: nobody was let in. */
  readonly user: string
  readonly credential: "key" | "token" | "session" | "none"
  readonly address: string
  /** The id of the key that pays with them, where one does. */
  readonly key?: string
  /** What was said of that key's limits. */
  readonly limits?: SaidLimits
  /** The models that their key may use; undefined: all. */
  readonly models: ReadonlyArray<string> | undefined
}

/** Set where a credential is checked. Without it nobody calls, and nothing may be used. */
export const Caller = Context.Reference<CallerInfo>("@sluice/demo-server/Caller", {
  defaultValue: () => ({ user: "", credential: "none", address: "", models: [] })
})

/** Whether the caller's key may use a model. */
export const mayUse = ({ models }: Pick<CallerInfo, "models">, model: string): boolean =>
  models?.includes(model) ?? true

/** The same for a model that is there and for one that is not. */
export const modelNotAllowed = (model: string) =>
  new Failure({
    status: 403,
    message: `This API key may not use the model \`${model}\`: GET /v1/models lists those that it may, PUT /api/token/ changes them`,
    code: "model_not_allowed",
    param: "model",
    retryable: false
  })
