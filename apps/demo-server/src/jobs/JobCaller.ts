/** The caller of a job, whose rights are checked when it runs: the key or the user may have been disabled since. */
import { Failure } from "@sluice/core/contract"
import { Clock, Effect } from "effect"
import { ApiKeys } from "../accounts/ApiKeys.ts"
import { documentsNotAllowed, keyFailure } from "../accounts/Authenticator.ts"
import type { CallerInfo } from "../accounts/Caller.ts"
import { userDisabled } from "../accounts/EndedCredentials.ts"
import { Users } from "../accounts/Users.ts"
import { catchSqlError } from "../sql/StoreFailure.ts"
import type { JobCaller } from "./JobTable.ts"

const keyRemoved = new Failure({
  status: 401,
  message: "The API key that this runs with was removed",
  code: "invalid_api_key"
})

/** What of a caller is stored with a job. */
export const toJobCaller = ({ address, credential, key, user }: CallerInfo): JobCaller => ({
  user,
  credential,
  address,
  ...(key !== undefined && { key })
})

export const makeCallerOf = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const users = yield* Users
  return Effect.fn("JobCaller.check")(function* (caller: JobCaller): Effect.fn.Return<CallerInfo, Failure> {
    const { address, credential, user } = caller
    if (caller.key === undefined) {
      const row = yield* catchSqlError(users.get(user))
      if (row?.status !== 1) return yield* userDisabled
      return { user, credential, address, models: undefined }
    }
    const key = yield* catchSqlError(keys.byId(Number(caller.key)))
    if (key === undefined || key.user_id !== user) return yield* keyRemoved
    const failure = keyFailure(key, yield* Clock.currentTimeMillis, address)
    if (failure !== undefined) return yield* failure
    if (key.documents !== "write") return yield* documentsNotAllowed
    return {
      user,
      credential,
      address,
      key: caller.key,
      limits: key,
      documents: key.documents,
      models: key.models ?? undefined
    }
  })
})
