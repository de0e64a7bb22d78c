/** The caller of the current request, and the models that the caller's key may use. */
import { Failure } from "@sluice/core/contract"
import { Context } from "effect"
import type { DocumentsPermission } from "../contract/Access.ts"
import type { ConfiguredLimits } from "./KeyLimits.ts"

export interface CallerInfo {
  /** The user's id; empty: not authenticated. */
  readonly user: string
  readonly credential: "key" | "token" | "session" | "none"
  readonly address: string
  /** The id of the API key that is charged, if any. */
  readonly key?: string
  /** The rate limits of that key. */
  readonly limits?: ConfiguredLimits
  /** What the key may do with the documents. Absent: everything. */
  readonly documents?: DocumentsPermission
  /** The models that the key may use; undefined: all. */
  readonly models: ReadonlyArray<string> | undefined
}

/** Set by authentication. The default may use nothing. */
export const CurrentCaller = Context.Reference<CallerInfo>("@sluice/demo-server/CurrentCaller", {
  defaultValue: () => ({ user: "", credential: "none", address: "", models: [] })
})

/** Whether the caller's key may use a model. */
export const mayUse = ({ models }: Pick<CallerInfo, "models">, model: string): boolean =>
  models?.includes(model) ?? true

/** The error is the same whether the model exists or not. */
export const modelNotAllowed = (model: string) =>
  new Failure({
    status: 403,
    message: `This API key may not use the model \`${model}\`. GET /v1/models lists the allowed models; PUT /api/token/ changes them`,
    code: "model_not_allowed",
    param: "model"
  })
