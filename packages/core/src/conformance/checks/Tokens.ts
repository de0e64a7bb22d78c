/** Tokens, the account's API keys: those that are there are read, one of the check's own is made, changed and removed. */
import { Clock, Duration, Effect, Option, Schema } from "effect"
import type { HttpClient } from "effect/http"
import { ApiKey } from "../../contract/Credentials.ts"
import { ask, refusalOf, type Request } from "../framework/Ask.ts"
import { type Check, check } from "../framework/Check.ts"
import { at, fault, listAt } from "../framework/Json.ts"
import { ours, promised } from "../framework/Rule.ts"
import type { Session } from "../framework/Session.ts"

const ACCOUNT = "Endpoints › Account management"
const SECTION = "Token (API key)"
const STATES = "States and transitions › Token"

/** What the token of the check may spend: ten US cents, and it is never used for more than an embedding. */
const QUOTA = 50_000
/** What it may spend after its change, and the least of that which an embedding leaves of it. */
const LOWERED = 40_000
const LEFT = 30_000
const NEVER = -1
/** Tokens of a page, so that any usual account fits in. */
const PAGE = 100

const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  id: Number.isSafeInteger,
  name: (value) => typeof value === "string",
  status: (value) => value === 0 || value === 1,
  expired_time: Number.isSafeInteger,
  remain_quota: Number.isSafeInteger,
  subnet: (value) => typeof value === "string"
}

/** Which fields of a token are missing or are something else. */
const tokenFault = (token: unknown): string | undefined => {
  const wrong = Object.keys(FIELDS).filter((field) => FIELDS[field]?.(at(token, field)) !== true)
  return fault(wrong.length === 0, `wrong or missing: ${wrong.join(", ")}`)
}

const firstFault = (tokens: ReadonlyArray<unknown>) =>
  tokens.map(tokenFault).find((fault) => fault !== undefined)

const ONE = { method: "GET", path: "/api/token/{}" } as const
const EMBED = { method: "POST", path: "/v1/embeddings" } as const

const idOf = (token: unknown): number | undefined => {
  const id = at(token, "id")
  return Number.isSafeInteger(id) ? Number(id) : undefined
}

const list = check({
  call: "GET /api/token/",
  section: ACCOUNT,
  form: promised(ACCOUNT, "the answer has the tokens in `data`"),
  request: () => ({ query: { num: String(PAGE) } }),
  rules: {
    list: promised(ACCOUNT, "`data` is an array"),
    fields: promised(
      SECTION,
      "each token has its fields: id, name, status 1 or 0, expired_time, remain_quota, subnet"
    ),
    num: promised(ACCOUNT, "`num` is the size of a page"),
    masked: ours(SECTION, "a list shows no whole key: it is returned when a token is created")
  },
  run: Effect.fnUntraced(function* ({ answer: { json }, judge, session, skip, succeeds }) {
    judge("list", fault(Array.isArray(at(json, "data")), "it is none"))
    if (!Array.isArray(at(json, "data"))) return
    const tokens = listAt(json, "data")
    if (tokens.length === 0) skip("fields", "the account has no tokens")
    else judge("fields", firstFault(tokens))
    const whole = tokens.filter((token) => /^[\w-]{20,}$/.test(String(at(token, "key") ?? ""))).length
    judge("masked", fault(whole === 0, `${whole} of ${tokens.length} are shown whole`))
    const [id, name] = [idOf(tokens[0]), at(tokens[0], "name")]
    if (id !== undefined && typeof name === "string") session.listed = { id, name }
    if (tokens.length < 2) return skip("num", "the account has fewer than two tokens")
    yield* succeeds("num", { query: { num: "1" } }, ({ json }) => {
      const { length } = listAt(json, "data")
      return fault(length === 1, `${length} tokens for \`num\` 1`)
    })
  })
})

/** One embedding with the token's own key. */
const embedding = ({ models }: Session): Request => ({ body: { model: models.embedding, input: "lock" } })

/** Begins the name of every token that the check makes. */
const nameOf = ({ run }: Session): string => `sluice-check-${run}`

const decodeKey = Schema.decodeUnknownOption(ApiKey)

const create = check({
  call: "POST /api/token/",
  needs: "write",
  section: ACCOUNT,
  form: promised(ACCOUNT, "the answer has the new token in `data`"),
  request: (session) => ({
    body: { name: nameOf(session), expired_time: NEVER, remain_quota: QUOTA, subnet: "" }
  }),
  rules: {
    key: promised(SECTION, "the new token carries its `key`"),
    fields: promised(SECTION, "the new token has its fields"),
    asAsked: promised(ACCOUNT, "name, expired_time, remain_quota and subnet are those that were sent"),
    opens: promised("Authentication 7", "the new key opens /v1")
  },
  run: Effect.fnUntraced(function* ({ answer: { json }, judge, session, skip, succeeds }) {
    const made = at(json, "data")
    const key = Option.getOrUndefined(decodeKey(at(made, "key")))
    if (key !== undefined) session.secrets.push(key)
    const id = idOf(made)
    const name = nameOf(session)
    if (id !== undefined) session.token = { id, name, key }
    judge("key", fault(key !== undefined, "there is none"))
    judge("fields", tokenFault(made))
    const sent: Readonly<Record<string, unknown>> = {
      name,
      expired_time: NEVER,
      remain_quota: QUOTA,
      subnet: ""
    }
    const other = Object.keys(sent).filter((field) => at(made, field) !== sent[field])
    judge("asAsked", fault(other.length === 0, `others came: ${other.join(", ")}`))
    if (key === undefined) return skip("opens", "the new token has no key")
    if (session.models.embedding === undefined) return skip("opens", "name a model with --embedding-model")
    yield* succeeds("opens", embedding(session), () => undefined, { call: EMBED, credential: key })
  })
})

const get = check({
  call: "GET /api/token/{}",
  section: ACCOUNT,
  form: promised(ACCOUNT, "the answer has the token in `data`"),
  request: ({ listed, token }) => {
    const known = token ?? listed
    return known === undefined ? "no token is known" : { params: [String(known.id)] }
  },
  rules: {
    data: promised(SECTION, "the token stands in `data`, with its fields"),
    sameId: promised(ACCOUNT, "it is the token whose id was asked for")
  },
  run: ({ answer: { json }, judge, session }) =>
    Effect.sync(() => {
      const { id } = session.token ?? session.listed ?? {}
      judge("data", tokenFault(at(json, "data")))
      judge("sameId", fault(idOf(at(json, "data")) === id, "it is another one"))
    })
})

const search = check({
  call: "GET /api/token/search",
  section: ACCOUNT,
  form: promised(ACCOUNT, "the answer has the tokens in `data`"),
  request: ({ listed, token }) => {
    const known = token ?? listed
    return known === undefined ? "no token is known" : { query: { keyword: known.name } }
  },
  rules: {
    finds: promised(ACCOUNT, "a token is found by its name"),
    only: promised(ACCOUNT, "tokens that do not match are left out")
  },
  run: Effect.fnUntraced(function* ({ answer: { json }, judge, session, succeeds }) {
    const { id } = session.token ?? session.listed ?? {}
    const found = listAt(json, "data").some((token) => idOf(token) === id)
    judge("finds", fault(found, "it is not among them"))
    yield* succeeds("only", { query: { keyword: `none-${session.run}` } }, ({ json }) => {
      const { length } = listAt(json, "data")
      return fault(length === 0, `${length} tokens for a keyword that none has`)
    })
  })
})

const changed = (session: Session, status: 0 | 1) => ({
  id: session.token?.id,
  name: `${nameOf(session)}-b`,
  expired_time: NEVER,
  remain_quota: LOWERED,
  status
})

/** Rules that are judged by the token as it is read again. */
const AFTER_READING = ["renames", "disables", "disabledKey", "quota", "expires", "enables", "keeps"] as const

const WEEK_SECONDS = 7 * 24 * 60 * 60

const update = check({
  call: "PUT /api/token/",
  needs: "write",
  section: ACCOUNT,
  form: ours(ACCOUNT, "the answer has the envelope of /api"),
  request: (session) =>
    session.token === undefined ? "no token was created" : { body: changed(session, 0) },
  rules: {
    renames: promised(ACCOUNT, "the token has the new name"),
    disables: promised(STATES, "with status 0 the token is disabled"),
    disabledKey: promised(SECTION, "the key of a disabled token does not open /v1"),
    quota: promised(ACCOUNT, "the token has the new remain_quota"),
    expires: promised(ACCOUNT, "the token has the new expired_time"),
    enables: promised(STATES, "with status 1 the token is enabled"),
    keeps: ours(ACCOUNT, "what is not sent, `subnet`, stays as it was")
  },
  run: Effect.fnUntraced(function* ({ judge, refuses, send, session, skip, succeeds }) {
    const { token } = session
    if (token === undefined) return
    const read = Effect.map(Effect.result(send({ params: [String(token.id)] }, { call: ONE })), (result) => {
      const found = result._tag === "Success" ? at(result.success.json, "data") : undefined
      return idOf(found) === token.id ? found : undefined
    })
    const disabled = yield* read
    if (disabled === undefined) {
      for (const rule of AFTER_READING) {
        skip(rule, "the token cannot be read again")
      }
      return
    }
    judge("renames", fault(at(disabled, "name") === changed(session, 0).name, "it has another one"))
    judge("disables", fault(at(disabled, "status") === 0, "its status is another"))
    const left = Number(at(disabled, "remain_quota"))
    judge("quota", fault(left > LEFT && left <= LOWERED, `it has ${left} where ${LOWERED} were sent`))
    judge("keeps", fault(at(disabled, "subnet") === "", "it did not"))
    if (at(disabled, "status") !== 0) skip("disabledKey", "the token is not disabled")
    else if (token.key === undefined) skip("disabledKey", "the token's key is not known")
    else if (session.models.embedding === undefined)
      skip("disabledKey", "name a model with --embedding-model")
    else yield* refuses("disabledKey", embedding(session), undefined, { call: EMBED, credential: token.key })
    const enabling = yield* succeeds("enables", { body: changed(session, 1) }, () => undefined)
    if (enabling !== undefined)
      judge("enables", fault(at(yield* read, "status") === 1, "its status is another"))

    // The interface shows no form but -1: a gateway that refuses this one, or writes it otherwise, is not at fault.
    const expired_time = Math.floor((yield* Clock.currentTimeMillis) / 1000) + WEEK_SECONDS
    const dated = yield* Effect.result(send({ body: { ...changed(session, 1), expired_time } }))
    if (dated._tag === "Failure" || refusalOf(dated.success) !== undefined) {
      return skip("expires", "it does not take seconds since 1970, and the interface shows no form but -1")
    }
    judge("expires", fault(at(yield* read, "expired_time") !== NEVER, "it still never expires"))
  })
})

const remove = check({
  call: "DELETE /api/token/{}",
  needs: "write",
  section: ACCOUNT,
  form: ours(ACCOUNT, "the answer has the envelope of /api"),
  request: ({ token }) => (token === undefined ? "no token was created" : { params: [String(token.id)] }),
  rules: { gone: promised(ACCOUNT, "the token is found no more") },
  run: Effect.fnUntraced(function* ({ judge, send, session }) {
    const { token } = session
    if (token === undefined) return
    const found = yield* Effect.result(send({ params: [String(token.id)] }, { call: ONE }))
    if (found._tag === "Failure") return judge("gone", found.failure.message)
    const still = refusalOf(found.success) === undefined && idOf(at(found.success.json, "data")) === token.id
    judge("gone", fault(!still, "it is still found"))
    if (!still) session.token = undefined
  })
})

export const tokens: ReadonlyArray<Check> = [list, create, get, search, update, remove]

const aside = Duration.seconds(30)

/**
 * Removes what a check has made and has not removed: it was interrupted, or the gateway made more than it was asked for.
 *
 * **Details.** Found by name, which no other token has. What the gateway does not answer stays.
 */
export const removeTokens = (session: Session): Effect.Effect<void, never, HttpClient.HttpClient> =>
  Effect.suspend(() => {
    const { accessToken, baseUrl, options, token } = session
    if (options.write !== true || accessToken === undefined) return Effect.void
    const remove = (id: number) =>
      Effect.ignore(
        ask(baseUrl, { method: "DELETE", path: ONE.path }, { params: [String(id)] }, accessToken, aside)
      )
    const search = { method: "GET", path: "/api/token/search" } as const
    return ask(baseUrl, search, { query: { keyword: nameOf(session) } }, accessToken, aside).pipe(
      Effect.map(({ json }) =>
        listAt(json, "data")
          .filter((token) => String(at(token, "name")).startsWith(nameOf(session)))
          .map(idOf)
      ),
      Effect.orElseSucceed(() => []),
      Effect.map((ids) => new Set([...ids, token?.id].filter((id) => id !== undefined))),
      Effect.flatMap(Effect.forEach(remove, { discard: true }))
    )
  })
