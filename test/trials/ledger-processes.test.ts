/** 200 parallel calls over HTTP on a balance for 50: at one server, and at three processes on one PostgreSQL. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { dataFolder, startProcess } from "../demo-server/Process.ts"
import { onPostgres } from "../demo-server/Stores.ts"
import { startServer } from "../demo-server/TestServer.ts"

const Made = Schema.fromJsonString(
  Schema.Struct({ data: Schema.Struct({ id: Schema.Int, key: Schema.String }) })
)
const NewUser = Schema.fromJsonString(Schema.Struct({ data: Schema.Struct({ access_token: Schema.String }) }))
const Kept = Schema.fromJsonString(Schema.Struct({ data: Schema.Struct({ remain_quota: Schema.Int }) }))
const ErrorDetails = Schema.fromJsonString(Schema.Struct({ data: Schema.Struct({ quota: Schema.Int }) }))

const ask = (url: string, credential: string, json?: unknown) =>
  Effect.promise(async () => {
    const response = await fetch(url, {
      ...(json !== undefined && { method: "POST", body: JSON.stringify(json) }),
      headers: { authorization: `Bearer ${credential}`, "content-type": "application/json" }
    })
    return { status: response.status, text: await response.text() }
  })

/** Costs one unit at the shipped price. */
const call = { model: "sluice-lexical-1024", input: "a lock" }

/** Sends 200 calls of a new user's key, to the addresses in turn. One of the two balances is for 50 calls. */
const race = Effect.fnUntraced(function* (
  urls: ReadonlyArray<string>,
  administrator: string,
  { quota, remaining }: { readonly quota: number; readonly remaining: number }
) {
  const [first = ""] = urls
  const user = yield* ask(`${first}/api/user`, administrator, { username: `has ${quota}`, quota })
  const accessToken = Schema.decodeUnknownSync(NewUser)(user.text).data.access_token
  const fields = { name: "k", expired_time: -1, remain_quota: remaining, subnet: "" }
  const { text } = yield* ask(`${first}/api/token/`, accessToken, fields)
  const { id, key } = Schema.decodeUnknownSync(Made)(text).data
  const answers = yield* Effect.forEach(
    Array.from({ length: 200 }, (_, at) => `${urls[at % urls.length]}/v1/embeddings`),
    (url) => ask(url, key, call),
    { concurrency: "unbounded" }
  )
  assert.lengthOf(
    answers.filter(({ status }) => status === 200),
    50
  )
  const refused = answers.filter(({ status, text }) => status === 403 && text.includes("insufficient_quota"))
  assert.lengthOf(refused, 150)
  const ofKey = yield* ask(`${first}/api/token/${id}`, accessToken)
  const ofUser = yield* ask(`${first}/api/user/self`, accessToken)
  assert.deepStrictEqual(
    [
      Schema.decodeUnknownSync(ErrorDetails)(ofUser.text).data.quota,
      Schema.decodeUnknownSync(Kept)(ofKey.text).data.remain_quota
    ],
    [quota - 50, remaining - 50]
  )
})

const EITHER = [
  { quota: 50, remaining: 1000 },
  { quota: 1000, remaining: 50 }
] as const

it.live("one server accepts exactly 50, on either balance", () =>
  Effect.gen(function* () {
    const { secrets, url } = yield* startServer()
    yield* Effect.forEach(EITHER, (balances) => race([url], secrets.accessToken, balances))
  }).pipe(Effect.scoped)
)

onPostgres((_, store) => {
  it.live(
    "three processes together accept exactly 50, on either balance",
    () =>
      Effect.gen(function* () {
        const env = yield* store
        const start = Effect.gen(function* () {
          const server = yield* startProcess({ ...env, SLUICE_DATA: yield* dataFolder })
          const printed = yield* server.printed("Reference")
          return { printed, url: /(http:\/\/\S+)\/#login/.exec(printed)?.[1] ?? "" }
        })
        const servers = yield* Effect.all([start, start, start], { concurrency: "unbounded" })
        const token = servers.flatMap(({ printed }) => /sat-\w+/.exec(printed) ?? [])
        assert.lengthOf(token, 1)
        const urls = servers.map(({ url }) => url)
        yield* Effect.forEach(EITHER, (balances) => race(urls, token[0] ?? "", balances))
      }).pipe(Effect.scoped),
    60_000
  )
})
