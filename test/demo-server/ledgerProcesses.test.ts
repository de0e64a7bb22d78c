/** 200 parallel calls on a balance for 50, over HTTP: to one server, and to three processes on one PostgreSQL. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { startProcess } from "./Process.ts"
import { onPostgres } from "./Stores.ts"
import { startServer, temporaryFolder } from "./TestServer.ts"

const Made = Schema.fromJsonString(
  Schema.Struct({ data: Schema.Struct({ id: Schema.Int, key: Schema.String }) })
)
const Told = Schema.fromJsonString(Schema.Struct({ data: Schema.Struct({ remain_quota: Schema.Int }) }))

const ask = (url: string, credential: string, json?: unknown) =>
  Effect.promise(async () => {
    const response = await fetch(url, {
      ...(json !== undefined && { method: "POST", body: JSON.stringify(json) }),
      headers: { authorization: `Bearer ${credential}`, "content-type": "application/json" }
    })
    return { status: response.status, text: await response.text() }
  })

/** At the shipped price such a text costs one unit. */
const call = { model: "sluice-lexical-1024", input: "a lock" }

/** What becomes of 200 calls, in turn to each address, of a key for 50. */
const race = Effect.fnUntraced(function* (urls: ReadonlyArray<string>, accessToken: string) {
  const [first = ""] = urls
  const fields = { name: "fifty", expired_time: -1, remain_quota: 50, subnet: "" }
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
  const left = yield* ask(`${first}/api/token/${id}`, accessToken)
  assert.strictEqual(Schema.decodeUnknownSync(Told)(left.text).data.remain_quota, 0)
})

it.live("one server lets exactly 50 pass", () =>
  Effect.gen(function* () {
    const { secrets, url } = yield* startServer()
    yield* race([url], secrets.accessToken)
  }).pipe(Effect.scoped)
)

onPostgres((_, store) => {
  it.live(
    "three processes let exactly 50 pass together",
    () =>
      Effect.gen(function* () {
        const env = yield* store
        const start = Effect.gen(function* () {
          const server = yield* startProcess({ ...env, SLUICE_DATA: yield* temporaryFolder })
          const printed = yield* server.printed("Reference")
          return { printed, url: /(http:\/\/\S+)\/#login/.exec(printed)?.[1] ?? "" }
        })
        const servers = yield* Effect.all([start, start, start], { concurrency: "unbounded" })
        const token = servers.flatMap(({ printed }) => /sat-\w+/.exec(printed) ?? [])
        assert.lengthOf(token, 1)
        yield* race(
          servers.map(({ url }) => url),
          token[0] ?? ""
        )
      }).pipe(Effect.scoped),
    60_000
  )
})
