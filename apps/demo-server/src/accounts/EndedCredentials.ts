/** Users and keys that were disabled or deleted, before a request or while it runs. */
import { Failure } from "@sluice/core/contract"
import { query, type SqlStep } from "../sql/SqlStep.ts"

const ended = (message: string) => new Failure({ status: 401, message, code: "invalid_api_key" })

export const keyDisabled = ended("This API key is disabled. PUT /api/token/ enables it")
const keyDeleted = ended("This API key was deleted. POST /api/token/ creates another")
export const userDisabled = ended("The user of this credential is disabled. An administrator can enable it")

interface StatusRow {
  readonly status: number
}

/** Why a user or a key may make no more calls; undefined if it may. */
export function* endedCredential(
  of: "user" | "key",
  { key, user }: { readonly key?: number | undefined; readonly user: string }
): SqlStep<Failure | undefined> {
  const [row] =
    of === "user"
      ? yield* query<StatusRow>("SELECT status FROM users WHERE id = ?", user)
      : yield* query<StatusRow>("SELECT status FROM tokens WHERE id = ?", key)
  if (row === undefined) return of === "key" ? keyDeleted : undefined
  return Number(row.status) === 1 ? undefined : of === "key" ? keyDisabled : userDisabled
}
