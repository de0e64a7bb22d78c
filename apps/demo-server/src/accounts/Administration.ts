/** Administration: users, and the audit log. */
import { Failure, Principal } from "@sluice/core/contract"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { SqlError } from "effect/sql"
import { sessionTokenOf } from "./SessionCookie.ts"
import {
  type InvitationRequest,
  type UserCreateRequest,
  type UserUpdateRequest,
  wrapData
} from "../contract/Administration.ts"
import { ServedApi } from "../http/ServedApi.ts"
import { catchSqlError } from "../sql/StoreFailure.ts"
import {
  NO_LIMIT,
  parseLimits,
  parseName,
  parsePage,
  parseStatus,
  parseUnits,
  rejectUnknown
} from "./AccountRequests.ts"
import { Invitations } from "./Invitations.ts"
import { Audit, type AuditChange, type AuditRow } from "./Audit.ts"
import { type UserFields, type UserRow, Users } from "./Users.ts"

const failure = (status: Failure["status"], code: string, message: string, param?: string) =>
  new Failure({ status, message, code, ...(param !== undefined && { param }) })

export const notAdmin = failure(403, "not_an_administrator", "Only administrators may do this")
const ownRights = "You can't remove your own rights. Ask another administrator"
const cannotRemoveOwnRights = failure(400, "invalid_value", ownRights, "id")
export const userNotFound = (param: string) =>
  failure(404, "user_not_found", "No user has this id. GET /api/user lists the users", param)
const usernameTaken = failure(409, "username_taken", "This username is taken", "username")
const insufficientQuota = failure(409, "insufficient_quota", "The user's balance is too low", "add_quota")
const tooLarge = `A user can be granted at most ${Number.MAX_SAFE_INTEGER} units in total`
const quotaTooLarge = failure(400, "invalid_value", tooLarge, "add_quota")

const INVITATION_HOURS = { usual: 72, most: 720 } as const
const invalidHours = failure(
  400,
  "invalid_value",
  `\`hours\` must be a whole number from 1 to ${INVITATION_HOURS.most}`,
  "hours"
)

const seconds = (milliseconds: number) => Math.floor(milliseconds / 1000)

const userInfo = ({ created_at, requests_per_minute, tokens_per_minute, ...user }: UserRow) => ({
  ...user,
  requests_per_minute: requests_per_minute ?? NO_LIMIT,
  tokens_per_minute: tokens_per_minute ?? NO_LIMIT,
  created_time: seconds(created_at)
})

const auditEntry = ({ actor, at, credential, ...entry }: AuditRow) => ({
  ...entry,
  time: seconds(at),
  user: actor,
  by: credential
})

const tokenReplaced = (user: string) => (): AuditChange => ({ action: "access_token.create", subject: user })

/** Permission checks of administrators. */
export const makeAdminGuard = Effect.gen(function* () {
  const users = yield* Users
  const audit = yield* Audit

  /** The caller's id. Fails if the caller is not an administrator. */
  const requireAdmin = Effect.gen(function* () {
    const { user } = yield* Principal
    return (yield* catchSqlError(users.get(user)))?.role === "admin" ? user : yield* notAdmin
  })

  /**
   * Runs and logs a change if the caller is still an administrator, in one transaction: if two administrators demote
   * each other at once, one of them remains.
   */
  const change = <A>(
    self: string,
    subject: string | undefined,
    effect: Effect.Effect<A, SqlError.SqlError>,
    entryOf: (result: A) => AuditChange | undefined
  ) =>
    audit.record(
      Effect.flatMap(
        users.lockAdministrator(self, subject),
        (may): Effect.Effect<A, SqlError.SqlError | Failure> => (may ? effect : Effect.fail(notAdmin))
      ),
      entryOf
    )

  /** Logs what an administrator has done outside the accounts. */
  const record = (entry: AuditChange) => catchSqlError(audit.record(Effect.void, () => entry))

  return { audit, change, record, requireAdmin, users }
})

const makeInvite = Effect.gen(function* () {
  const { change, requireAdmin } = yield* makeAdminGuard
  const invitations = yield* Invitations
  return Effect.fn("administration.invite")(function* (payload: InvitationRequest) {
    const self = yield* requireAdmin
    yield* rejectUnknown(payload.extra)
    const { quota, role } = payload
    const hours = payload.hours ?? INVITATION_HOURS.usual
    const username = yield* parseName(payload.username, "username")
    if (hours < 1 || hours > INVITATION_HOURS.most) return yield* invalidHours
    const invited = {
      username,
      role: role ?? ("user" as const),
      quota: yield* parseUnits(quota ?? 0, "quota")
    }
    const { expires, secret } = yield* catchSqlError(
      change(self, undefined, invitations.create(invited, hours), () => ({
        action: "invitation.create",
        subject: username,
        details: { role: invited.role, quota: invited.quota, hours }
      }))
    )
    return { path: `/#invitation=${secret}`, expires_time: seconds(expires) }
  })
})

const makeAdministration = Effect.gen(function* () {
  const { audit, change, requireAdmin, users } = yield* makeAdminGuard

  const createUser = Effect.fn("administration.createUser")(function* (
    payload: typeof UserCreateRequest.Type
  ) {
    const self = yield* requireAdmin
    yield* rejectUnknown(payload.extra)
    const limits = yield* parseLimits(payload)
    const fields = {
      username: yield* parseName(payload.username, "username"),
      role: payload.role ?? "user",
      status: 1,
      ...limits
    } satisfies UserFields
    const quota = yield* parseUnits(payload.quota ?? 0, "quota")
    const create = Effect.gen(function* () {
      const user = yield* users.create(fields, quota)
      return user && { user, token: yield* users.replaceToken(user.id) }
    })
    const details = { username: fields.username, role: fields.role, quota, ...limits }
    const created = yield* catchSqlError(
      change(
        self,
        undefined,
        create,
        (created) => created && { action: "user.create", subject: created.user.id, details }
      )
    )
    if (created === undefined) return yield* usernameTaken
    return { ...userInfo(created.user), access_token: created.token }
  })

  const updateUser = Effect.fn("administration.updateUser")(function* (
    payload: typeof UserUpdateRequest.Type
  ) {
    const self = yield* requireAdmin
    yield* rejectUnknown(payload.extra)
    const { id, role, status, username } = payload
    if ((yield* catchSqlError(users.get(id))) === undefined) return yield* userNotFound("id")
    const changes = {
      ...(typeof username === "string" && { username: yield* parseName(username, "username") }),
      ...(typeof role === "string" && { role }),
      ...(typeof status === "number" && { status: yield* parseStatus(status) }),
      ...(yield* parseLimits(payload))
    } satisfies Partial<UserFields>
    if (id === self && (changes.role === "user" || changes.status === 0)) return yield* cannotRemoveOwnRights
    const add = payload.add_quota ?? 0
    const details = { ...changes, ...(add !== 0 && { add_quota: add }) }
    const updated = yield* change(
      self,
      id,
      users.update(id, changes, add),
      (row) => row && { action: "user.update", subject: id, details }
    ).pipe(
      Effect.catchIf(
        (error) => SqlError.isSqlError(error) && error.reason._tag === "UniqueViolation",
        () => Effect.fail(usernameTaken)
      ),
      catchSqlError
    )
    return updated === undefined ? yield* add > 0 ? quotaTooLarge : insufficientQuota : userInfo(updated)
  })

  const replaceUserToken = Effect.fn("administration.renewUserToken")(function* (id: string) {
    const self = yield* requireAdmin
    if ((yield* catchSqlError(users.get(id))) === undefined) return yield* userNotFound("id")
    return yield* catchSqlError(change(self, id, users.replaceToken(id), tokenReplaced(id)))
  })

  const replaceOwnToken = Effect.fn("administration.renewToken")(function* () {
    const { user } = yield* Principal
    // The calling page stays signed in. Programs send no cookie.
    const request = yield* HttpServerRequest.HttpServerRequest
    const replace = users.replaceToken(user, sessionTokenOf(request))
    return yield* catchSqlError(audit.record(replace, tokenReplaced(user)))
  })

  return { audit, createUser, replaceOwnToken, replaceUserToken, requireAdmin, updateUser, users }
})

export const AdministrationLayer = HttpApiBuilder.group(
  ServedApi,
  "administration",
  Effect.fn(function* (handlers) {
    const { audit, createUser, replaceOwnToken, replaceUserToken, requireAdmin, updateUser, users } =
      yield* makeAdministration
    const invite = yield* makeInvite
    return handlers.handleAll({
      createUser: ({ payload }) => Effect.map(createUser(payload), wrapData),
      invite: ({ payload }) => Effect.map(invite(payload), wrapData),
      updateUser: ({ payload }) => Effect.map(updateUser(payload), wrapData),
      renewUserToken: ({ params }) => Effect.map(replaceUserToken(params.id), wrapData),
      renewToken: () => Effect.map(replaceOwnToken(), wrapData),
      users: Effect.fn("administration.users")(function* ({ query }) {
        yield* requireAdmin
        return wrapData((yield* catchSqlError(users.list(yield* parsePage(query)))).map(userInfo))
      }),
      audit: Effect.fn("administration.audit")(function* ({ query }) {
        yield* requireAdmin
        return wrapData((yield* catchSqlError(audit.list(yield* parsePage(query)))).map(auditEntry))
      })
    })
  })
)
