/** Tokens (API keys): reads the existing ones, then creates, changes and removes one of its own. */
import { Clock, Duration, Effect, Option } from "effect"
import type { HttpClient } from "effect/http"
import { decodeKey } from "../../client/account/TokenRecords.ts"
import { type CheckRequest, type GatewayResponse, refusalIn, sendRequest } from "../framework/Request.ts"
import { type Check, check, refuses } from "../framework/Check.ts"
import type { CallName } from "../framework/Contract.ts"
import { at, failUnless, hasLength, interfaceRule, listAt, ownRule } from "../framework/Rule.ts"
import type { Session } from "../framework/Session.ts"

const ACCOUNT = "Endpoints › Account management"
const SECTION = "Token (API key)"
const STATES = "States and transitions › Token"

/** Quota units of the check's token: ten US cents. It pays for a few embeddings at most. */
const QUOTA = 50_000
/** The quota after the update, and the least that remains of it after an embedding. */
const REDUCED_QUOTA = 40_000
const LEAST_REDUCED_QUOTA = 30_000
const CENT = 5_000
const NEVER = -1
/** Page size: enough for a usual account. */
const PAGE = 100

const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  id: Number.isSafeInteger,
  name: (value) => typeof value === "string",
  status: (value) => value === 0 || value === 1,
  expired_time: Number.isSafeInteger,
  remain_quota: Number.isSafeInteger,
  subnet: (value) => typeof value === "string"
}

/** The fields of a token that are missing or invalid. */
const tokenFault = (token: unknown): string | undefined => {
  const wrong = Object.keys(FIELDS).filter((field) => FIELDS[field]?.(at(token, field)) !== true)
  return failUnless(wrong.length === 0, `wrong or missing: ${wrong.join(", ")}`)
}

const firstFault = (tokens: ReadonlyArray<unknown>) =>
  tokens.map(tokenFault).find((fault) => fault !== undefined)

const GET_TOKEN = "GET /api/token/{}"
const EMBED = "POST /v1/embeddings"

const idOf = (token: unknown): number | undefined => {
  const id = at(token, "id")
  return Number.isSafeInteger(id) ? Number(id) : undefined
}

/** The `data` of a response, if there is one. */
const dataOf = Effect.match({
  onFailure: () => undefined,
  onSuccess: ({ json }: GatewayResponse) => at(json, "data")
})

const list = check({
  call: "GET /api/token/",
  section: ACCOUNT,
  form: interfaceRule(ACCOUNT, "the response has the tokens in `data`"),
  request: () => ({ query: { num: String(PAGE) } }),
  rules: {
    list: interfaceRule(ACCOUNT, "`data` is an array"),
    fields: interfaceRule(SECTION, `each token has ${Object.keys(FIELDS).join(", ")}; status is 1 or 0`),
    num: interfaceRule(ACCOUNT, "`num` is the page size"),
    masked: ownRule(SECTION, "a list shows no full key: only creation returns it")
  },
  run: Effect.fnUntraced(function* ({ response: { json }, expect, judge, session, skip, expectSuccess }) {
    expect("list", Array.isArray(at(json, "data")), "it is not an array")
    if (!Array.isArray(at(json, "data"))) return undefined
    const tokens = listAt(json, "data")
    if (tokens.length === 0) skip("fields", "the account has no tokens")
    else judge("fields", firstFault(tokens))
    const whole = tokens.filter((token) => /^[\w-]{20,}$/.test(String(at(token, "key") ?? ""))).length
    expect("masked", whole === 0, `${whole} of ${tokens.length} are shown in full`)
    const [id, name] = [idOf(tokens[0]), at(tokens[0], "name")]
    if (id !== undefined && typeof name === "string") session.listed = { id, name }
    if (tokens.length < 2) return "the account has fewer than two tokens"
    yield* expectSuccess("num", { query: { num: "1" } }, hasLength("data", 1, "tokens for `num` 1"))
    return undefined
  })
})

/** One embedding with the token's own key. */
const embedding = ({ models }: Session): CheckRequest => ({
  body: { model: models.embedding, input: "lock" }
})

/** The name prefix of the check's tokens. */
const nameOf = ({ run }: Session): string => `sluice-check-${run}`

const newToken = (session: Session): Readonly<Record<string, unknown>> => ({
  name: nameOf(session),
  expired_time: NEVER,
  remain_quota: QUOTA,
  subnet: ""
})

/** A network for documentation, from which nobody calls (RFC 5737). */
const ELSEWHERE = "192.0.2.0/24"

const WEEK_SECONDS = 7 * 24 * 60 * 60

const create = check({
  call: "POST /api/token/",
  needs: "write",
  section: ACCOUNT,
  form: interfaceRule(ACCOUNT, "the response has the new token in `data`"),
  request: (session) => ({ body: newToken(session) }),
  rules: {
    key: interfaceRule(SECTION, "the new token carries its `key`"),
    fields: interfaceRule(SECTION, "the new token has its fields"),
    asAsked: interfaceRule(ACCOUNT, "name, expired_time, remain_quota and subnet have the values sent"),
    opens: interfaceRule("Authentication 7", "the new key opens /v1"),
    subnet: interfaceRule(SECTION, "the key of a token for another `subnet` does not open /v1"),
    free: ownRule(SECTION, "a refused request takes nothing from the key's quota"),
    charge: ownRule(SECTION, `an embedding of one word takes at most ${CENT} units, a US cent`),
    usedUp: interfaceRule(SECTION, "the key of a token without quota does not open /v1"),
    expired: ownRule(SECTION, "the key of an expired token does not open /v1")
  },
  run: Effect.fnUntraced(function* (context) {
    const { expect, expectRefusal, expectSuccess, judge, response, send, session, skip } = context
    const { json } = response
    const made = at(json, "data")
    const key = Option.getOrUndefined(decodeKey(at(made, "key")))
    if (key !== undefined) session.secrets.push(key)
    const id = idOf(made)
    if (id !== undefined) session.token = { id, name: nameOf(session), key }
    expect("key", key !== undefined, "it is missing")
    judge("fields", tokenFault(made))
    const sent = newToken(session)
    const other = Object.keys(sent).filter((field) => at(made, field) !== sent[field])
    expect("asAsked", other.length === 0, `different: ${other.join(", ")}`)
    if (key === undefined) return "the new token has no key"
    if (session.models.embedding === undefined) return "set a model with --embedding-model"
    const as = { call: EMBED, credential: key } as const
    const read = dataOf(send({ params: [id ?? 0] }, { call: GET_TOKEN }))
    const left = Effect.map(read, (token) => Number(at(token, "remain_quota")))
    yield* Effect.ignore(send({ body: { model: "no-such-model", input: "lock" } }, as))
    const before = yield* left
    expect("free", before === sent["remain_quota"], `${before} units are left of ${QUOTA}`)
    const opened = yield* expectSuccess("opens", embedding(session), () => undefined, as)
    const taken = before - (yield* left)
    if (opened === undefined) skip("charge", "the key does not open /v1")
    else expect("charge", taken >= 0 && taken <= CENT, `it takes ${taken}`)
    const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const restricted = [
      ["subnet", { subnet: ELSEWHERE }],
      ["usedUp", { remain_quota: 0 }],
      ["expired", { expired_time: now - WEEK_SECONDS }]
    ] as const
    for (const [rule, fields] of restricted) {
      const data = yield* dataOf(send({ body: { ...sent, ...fields } }))
      const restrictedKey = Option.getOrUndefined(decodeKey(at(data, "key")))
      if (restrictedKey === undefined) {
        // A gateway may refuse such a token.
        skip(rule, "no token was created")
        continue
      }
      session.secrets.push(restrictedKey)
      yield* expectRefusal(rule, embedding(session), undefined, { call: EMBED, credential: restrictedKey })
      yield* Effect.ignore(send({ params: [idOf(data) ?? 0] }, { call: "DELETE /api/token/{}" }))
    }
    return undefined
  })
})

const UNKNOWN = "no token is known"

const get = check({
  call: "GET /api/token/{}",
  section: ACCOUNT,
  form: interfaceRule(ACCOUNT, "the response has the token in `data`"),
  request: ({ listed, token = listed }) => (token === undefined ? UNKNOWN : { params: [token.id] }),
  rules: {
    data: interfaceRule(SECTION, "`data` is the token with its fields"),
    sameId: interfaceRule(ACCOUNT, "it is the requested token")
  },
  run: ({ response: { json }, expect, judge, session }) =>
    Effect.sync(() => {
      const { id } = session.token ?? session.listed ?? {}
      judge("data", tokenFault(at(json, "data")))
      expect("sameId", idOf(at(json, "data")) === id, "it has another id")
    })
})

const search = check({
  call: "GET /api/token/search",
  section: ACCOUNT,
  form: interfaceRule(ACCOUNT, "the response has the tokens in `data`"),
  request: ({ listed, token = listed }) =>
    token === undefined ? UNKNOWN : { query: { keyword: token.name } },
  rules: {
    finds: interfaceRule(ACCOUNT, "a token is found by its name"),
    only: interfaceRule(ACCOUNT, "tokens that do not match are left out")
  },
  run: Effect.fnUntraced(function* ({ response: { json }, expect, session, expectSuccess }) {
    const { id } = session.token ?? session.listed ?? {}
    const found = listAt(json, "data").some((token) => idOf(token) === id)
    expect("finds", found, "it is not among them")
    const none = hasLength("data", 0, "tokens for a keyword that matches none")
    yield* expectSuccess("only", { query: { keyword: `none-${session.run}` } }, none)
  })
})

const changed = (session: Session, status: 0 | 1) => ({
  id: session.token?.id,
  name: `${nameOf(session)}-b`,
  expired_time: NEVER,
  remain_quota: REDUCED_QUOTA,
  status
})

const NO_KEY = "it needs the key of the new token, and a model: set one with --embedding-model"
const NO_TOKEN = "no token was created"

const update = check({
  call: "PUT /api/token/",
  needs: "write",
  section: ACCOUNT,
  form: ownRule(ACCOUNT, "the response has the envelope of /api"),
  request: (session) => (session.token === undefined ? NO_TOKEN : { body: changed(session, 0) }),
  rules: {
    renames: interfaceRule(ACCOUNT, "the token has the new name"),
    disables: interfaceRule(STATES, "with status 0 the token is disabled"),
    disabledKey: interfaceRule(SECTION, "the key of a disabled token does not open /v1"),
    quota: interfaceRule(ACCOUNT, "the token has the new remain_quota"),
    expires: interfaceRule(ACCOUNT, "the token has the new expired_time"),
    enables: interfaceRule(STATES, "with status 1 the token is enabled"),
    enabledKey: interfaceRule(STATES, "the key of an enabled token opens /v1 again"),
    keeps: ownRule(ACCOUNT, "a field that is not sent, `subnet`, keeps its value"),
    otherStatus: refuses(SECTION, "another `status` than 1 or 0 is refused", { status: 7 })
  },
  run: Effect.fnUntraced(function* ({ expect, expectRefusal, send, session, skip, expectSuccess }) {
    const { token } = session
    if (token === undefined) return undefined
    const read = Effect.map(dataOf(send({ params: [token.id] }, { call: GET_TOKEN })), (found) =>
      idOf(found) === token.id ? found : undefined
    )
    const disabled = yield* read
    if (disabled === undefined) return "the token cannot be read again"
    expect("renames", at(disabled, "name") === changed(session, 0).name, "it has another name")
    expect("disables", at(disabled, "status") === 0, "it has another status")
    const left = Number(at(disabled, "remain_quota"))
    const isReduced = left > LEAST_REDUCED_QUOTA && left <= REDUCED_QUOTA
    expect("quota", isReduced, `it has ${left} where ${REDUCED_QUOTA} were sent`)
    expect("keeps", at(disabled, "subnet") === "", "it changed")
    const { key } = token
    const noKey = key === undefined || session.models.embedding === undefined ? NO_KEY : undefined
    const as = { call: EMBED, credential: key ?? session.options.apiKey } as const
    if (noKey !== undefined) skip("disabledKey", noKey)
    else if (at(disabled, "status") !== 0) skip("disabledKey", "the token is not disabled")
    else yield* expectRefusal("disabledKey", embedding(session), undefined, as)
    const enabling = yield* expectSuccess("enables", { body: changed(session, 1) }, () => undefined)
    const enabled = enabling !== undefined && at(yield* read, "status") === 1
    if (enabling !== undefined) expect("enables", enabled, "it has another status")
    if (noKey !== undefined || !enabled) skip("enabledKey", noKey ?? "the token is not enabled")
    else yield* expectSuccess("enabledKey", embedding(session), () => undefined, as)

    // The interface shows only -1: a gateway that refuses seconds, or writes them differently, breaks no rule.
    const expired_time = Math.floor((yield* Clock.currentTimeMillis) / 1000) + WEEK_SECONDS
    const dated = yield* Effect.result(send({ body: { ...changed(session, 1), expired_time } }))
    if (dated._tag === "Failure" || refusalIn(dated.success) !== undefined) {
      return "it does not take seconds since 1970, and the interface shows no form but -1"
    }
    expect("expires", at(yield* read, "expired_time") !== NEVER, "it still never expires")
    return undefined
  })
})

const remove = check({
  call: "DELETE /api/token/{}",
  needs: "write",
  section: ACCOUNT,
  form: ownRule(ACCOUNT, "the response has the envelope of /api"),
  request: ({ token }) => (token === undefined ? NO_TOKEN : { params: [token.id] }),
  rules: {
    gone: interfaceRule(ACCOUNT, "the token is removed"),
    removedKey: interfaceRule(ACCOUNT, "the key of a removed token does not open /v1")
  },
  run: Effect.fnUntraced(function* ({ expect, expectRefusal, judge, send, session }) {
    const { token } = session
    if (token === undefined) return
    const found = yield* Effect.result(send({ params: [token.id] }, { call: GET_TOKEN }))
    if (found._tag === "Failure") return judge("gone", found.failure.message)
    const still = refusalIn(found.success) === undefined && idOf(at(found.success.json, "data")) === token.id
    expect("gone", !still, "it is still found")
    if (still) return
    session.token = undefined
    if (token.key === undefined || session.models.embedding === undefined) return NO_KEY
    yield* expectRefusal("removedKey", embedding(session), undefined, { call: EMBED, credential: token.key })
  })
})

export const tokens: ReadonlyArray<Check> = [list, create, get, search, update, remove]

const CLEANUP_TIMEOUT = Duration.seconds(30)

/**
 * Removes the tokens that the check left behind, after an interruption or a duplicate creation.
 *
 * **Details.** Finds them by their unique name. Ignores failures.
 */
export const removeTokens = (session: Session): Effect.Effect<void, never, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const { accessToken, baseUrl, options, token } = session
    if (options.write !== true || accessToken === undefined) return
    const send = (call: CallName, request: CheckRequest) =>
      sendRequest(baseUrl, call, request, accessToken, CLEANUP_TIMEOUT)
    const name = nameOf(session)
    const found = yield* dataOf(send("GET /api/token/search", { query: { keyword: name } }))
    const own = listAt(found).filter((token) => String(at(token, "name")).startsWith(name))
    const ids = new Set([...own.map(idOf), token?.id].filter((id) => id !== undefined))
    yield* Effect.forEach(ids, (id) => Effect.ignore(send("DELETE /api/token/{}", { params: [id] })))
  })
