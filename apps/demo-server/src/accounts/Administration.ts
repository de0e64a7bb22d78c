/** What administrators do: users, and the log of who changed what. */
import { Failure, Principal } from "@sluice/core/contract"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { SqlError } from "effect/sql"
import { SESSION_COOKIE } from "../contract/Access.ts"
import { wrapData } from "../contract/Administration.ts"
import { ServerApi } from "../contract/ServerApi.ts"
import { limitsGiven, nameOf, NO_LIMIT, nothingElse, pageOf, statusOf, unitsOf } from "./AccountRequests.ts"
import { Audit, type AuditRow, type Entry } from "./Audit.ts"
import { orUnavailable } from "../sql/StoreFailure.ts"
import { type UserFields, type UserRow, Users } from "./Users.ts"

const refuse = (status: Failure["status"], code: string, message: string, param?: string) =>
  new Failure({ status, message, code, ...(param !== undefined && { param }), retryable: false })

export const notAdmin = refuse(403, "not_an_administrator", "Only administrators may do this")
const notYourself = refuse(
  400,
  "invalid_value",
  "You would lose your own rights: let another administrator do this",
  "id"
)
export const noSuchUser = (param: string) =>
  refuse(404, "user_not_found", "There is no user with this id: GET /api/user lists them", param)
const taken = refuse(
  409,
  "username_taken",
  "There is a user of this name already: choose another",
  "username"
)
const short = refuse(409, "insufficient_quota", "The user has not as many units left", "add_quota")

const beyondLargest = refuse(
  400,
  "invalid_value",
  `A user is granted at most ${Number.MAX_SAFE_INTEGER} units in all: add less`,
  "add_quota"
)

const seconds = (milliseconds: number) => Math.floor(milliseconds / 1000)

const infoOf = ({ created_at, requests_per_minute, tokens_per_minute, ...user }: UserRow) => ({
  ...user,
  requests_per_minute: requests_per_minute ?? NO_LIMIT,
  tokens_per_minute: tokens_per_minute ?? NO_LIMIT,
  created_time: seconds(created_at)
})

const entryOf = ({ actor, at, credential, ...entry }: AuditRow) => ({
  ...entry,
  time: seconds(at),
  user: actor,
  by: credential
})

export const AdministrationLayer = HttpApiBuilder.group(
  ServerApi,
  "administration",
  Effect.fn(function* (handlers) {
    const users = yield* Users
    const audit = yield* Audit

    /** The caller's id, where they may. */
    const admin = Effect.gen(function* () {
      const { user } = yield* Principal
      return (yield* orUnavailable(users.get(user)))?.role === "admin" ? user : yield* notAdmin
    })

    /** What the caller may change as long as they are an administrator: of two who demote each other at once one stays. */
    const changing = <A>(
      self: string,
      subject: string | undefined,
      change: Effect.Effect<A, SqlError.SqlError>,
      entryOf: (result: A) => Entry | undefined
    ) =>
      audit.changing(
        Effect.flatMap(
          users.holdAdministrator(self, subject),
          (may): Effect.Effect<A, SqlError.SqlError | Failure> => (may ? change : Effect.fail(notAdmin))
        ),
        entryOf
      )

    const renewed = (user: string) => (): Entry => ({ action: "access_token.create", subject: user })

    return handlers.handleAll({
      createUser: Effect.fn("administration.createUser")(function* ({ payload }) {
        const self = yield* admin
        yield* nothingElse(payload.extra)
        const limits = yield* limitsGiven(payload)
        const fields = {
          username: yield* nameOf(payload.username, "username"),
          role: payload.role ?? "user",
          status: 1,
          ...limits
        } satisfies UserFields
        const quota = yield* unitsOf(payload.quota ?? 0, "quota")
        const add = Effect.gen(function* () {
          const user = yield* users.create(fields, quota)
          return user === undefined ? undefined : { user, token: yield* users.renew(user.id) }
        })
        const made = yield* orUnavailable(
          changing(
            self,
            undefined,
            add,
            (made) =>
              made && {
                action: "user.create",
                subject: made.user.id,
                details: { username: fields.username, role: fields.role, quota, ...limits }
              }
          )
        )
        if (made === undefined) return yield* taken
        return wrapData({ ...infoOf(made.user), access_token: made.token })
      }),
      users: Effect.fn("administration.users")(function* ({ query }) {
        yield* admin
        return wrapData((yield* orUnavailable(users.list(yield* pageOf(query)))).map(infoOf))
      }),
      updateUser: Effect.fn("administration.updateUser")(function* ({ payload }) {
        const self = yield* admin
        yield* nothingElse(payload.extra)
        const { id, role, status, username } = payload
        if ((yield* orUnavailable(users.get(id))) === undefined) return yield* noSuchUser("id")
        const changes = {
          ...(typeof username === "string" && { username: yield* nameOf(username, "username") }),
          ...(typeof role === "string" && { role }),
          ...(typeof status === "number" && { status: yield* statusOf(status) }),
          ...(yield* limitsGiven(payload))
        } satisfies Partial<UserFields>
        if (id === self && (changes.role === "user" || changes.status === 0)) return yield* notYourself
        const add = payload.add_quota ?? 0
        const details = { ...changes, ...(add !== 0 && { add_quota: add }) }
        const changed = yield* changing(
          self,
          id,
          users.update(id, changes, add),
          (row) => row && { action: "user.update", subject: id, details }
        ).pipe(
          Effect.catchIf(
            (error) => SqlError.isSqlError(error) && error.reason._tag === "UniqueViolation",
            () => Effect.fail(taken)
          ),
          orUnavailable
        )
        if (changed !== undefined) return wrapData(infoOf(changed))
        return yield* add > 0 ? beyondLargest : short
      }),
      renewUserToken: Effect.fn("administration.renewUserToken")(function* ({ params }) {
        const self = yield* admin
        if ((yield* orUnavailable(users.get(params.id))) === undefined) return yield* noSuchUser("id")
        const renew = changing(self, params.id, users.renew(params.id), renewed(params.id))
        return wrapData(yield* orUnavailable(renew))
      }),
      renewToken: Effect.fn("administration.renewToken")(function* () {
        const { user } = yield* Principal
        // Whoever asks from the page stays signed in; a program has shown no cookie.
        const { cookies } = yield* HttpServerRequest.HttpServerRequest
        const renew = users.renew(user, cookies[SESSION_COOKIE])
        return wrapData(yield* orUnavailable(audit.changing(renew, renewed(user))))
      }),
      audit: Effect.fn("administration.audit")(function* ({ query }) {
        yield* admin
        return wrapData((yield* orUnavailable(audit.list(yield* pageOf(query)))).map(entryOf))
      })
    })
  })
)
