/** The user, and the system access token. */
import { Effect, Option, Redacted, Schema } from "effect"
import { SystemAccessToken } from "../../contract/Credentials.ts"
import { type Check, check } from "../framework/Check.ts"
import { at, fault } from "../framework/Json.ts"
import { ours, promised } from "../framework/Rule.ts"

const ACCOUNT = "Endpoints › Account management"

const self = check({
  call: "GET /api/user/self",
  section: ACCOUNT,
  form: promised("Account user", "`data` has `username`, a text, and `quota`, an integer of quota units"),
  request: () => ({}),
  // The schema says it all.
  rules: {},
  run: () => Effect.void
})

const decodeToken = Schema.decodeUnknownOption(SystemAccessToken)

/** Ends the credential of all other calls of `/api`: the last check. */
const rotate = check({
  call: "GET /api/user/token",
  needs: "rotate",
  section: ACCOUNT,
  form: ours(ACCOUNT, "the answer has the new system access token in `data`"),
  request: () => ({}),
  rules: {
    token: ours(ACCOUNT, "`data` is the new system access token"),
    opens: ours(ACCOUNT, "the new token opens /api"),
    ends: ours(ACCOUNT, "the old token opens it no more"),
    unstored: ours(ACCOUNT, "no cache may store it: `cache-control: no-store`")
  },
  run: Effect.fnUntraced(function* ({ answer, judge, refuses, session, succeeds }) {
    const stored = answer.headers["cache-control"]?.includes("no-store") !== true
    judge("unstored", fault(!stored, "it is not said"))
    const token = Option.getOrUndefined(decodeToken(at(answer.json, "data")))
    judge("token", fault(token !== undefined, "it is none"))
    if (token === undefined) return
    const old = session.accessToken
    session.secrets.push(token)
    session.accessToken = token
    if (session.options.onRotated !== undefined) yield* session.options.onRotated(token)
    const call = { method: "GET", path: "/api/user/self" } as const
    yield* succeeds("opens", {}, () => undefined, { call, credential: token })
    if (old !== undefined && Redacted.value(old) !== Redacted.value(token)) {
      yield* refuses("ends", {}, undefined, { call, credential: old })
    }
  })
})

export const user: ReadonlyArray<Check> = [self]
export const rotation: ReadonlyArray<Check> = [rotate]
