/** The user, and the system access token. */
import { Effect, Option, Redacted } from "effect"
import { decodeAccessToken } from "../../client/account/TokenRecords.ts"
import { check } from "../framework/Check.ts"
import { at, interfaceRule, ownRule } from "../framework/Rule.ts"

const ACCOUNT = "Endpoints › Account management"

export const user = check({
  call: "GET /api/user/self",
  section: ACCOUNT,
  form: interfaceRule("Account user", "`data` has a text `username` and an integer `quota`"),
  request: () => ({}),
  // The schema covers it.
  rules: {},
  run: () => Effect.void
})

/** Revokes the credential of all other calls of `/api`, so it runs last. */
export const rotation = check({
  call: "GET /api/user/token",
  needs: "rotate",
  section: ACCOUNT,
  form: ownRule(ACCOUNT, "the response has the new system access token in `data`"),
  request: () => ({}),
  rules: {
    token: ownRule(ACCOUNT, "`data` is the new system access token"),
    opens: ownRule(ACCOUNT, "the new token opens /api"),
    ends: ownRule(ACCOUNT, "the old token is revoked"),
    unstored: ownRule(ACCOUNT, "it is not cacheable: `cache-control: no-store`")
  },
  run: Effect.fnUntraced(function* ({ response, expect, expectRefusal, session, expectSuccess }) {
    const stored = response.headers["cache-control"]?.includes("no-store") !== true
    expect("unstored", !stored, "the header is missing")
    const token = Option.getOrUndefined(decodeAccessToken(at(response.json, "data")))
    expect("token", token !== undefined, "it is not a token")
    if (token === undefined) return
    const old = session.accessToken
    session.secrets.push(token)
    session.accessToken = token
    if (session.options.onRotated !== undefined) yield* session.options.onRotated(token)
    const call = "GET /api/user/self"
    yield* expectSuccess("opens", {}, () => undefined, { call, credential: token })
    if (old !== undefined && Redacted.value(old) !== Redacted.value(token)) {
      yield* expectRefusal("ends", {}, undefined, { call, credential: old })
    }
  })
})
