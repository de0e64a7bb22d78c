/**
 * Every endpoint as every role, on a shared collection: nobody sees what is not theirs to see, in responses, images, and
 * errors, and nobody changes what is not theirs to change.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import sharp from "sharp"
import { NewUser } from "../../apps/demo-server/src/contract/index.ts"
import { seeded } from "../../bench/corpus/Random.ts"
import { type Endpoint, endpoints } from "../fuzz/Endpoints.ts"
import { callTool, connect, httpTransport } from "../mcp/McpClients.ts"
import { bearer, MadeKey } from "../demo-server/AccountCalls.ts"
import { type CallOptions, filesOf, startServer, type TestServer } from "../demo-server/TestServer.ts"

type Server = TestServer["Service"]

const QUOTA = 10_000_000
const question = "How wide is the weir?"
const SECRET = "QZ-thirty-one"
const weir = `# Weir\n\nThe weir is ${SECRET} metres wide. It was built of oak in the year 1871.\n\nThe keeper opens the gates of the weir when the river rises above the upper mark, and closes them again in summer.`
const FILES = { "qzweir.md": weir, "qzcopy.md": `${weir}\n\nA copy of it.` }
/** In texts: words, paths, a metadata key, and a name. What has none of them says nothing of the collection. */
const SAID = /qz/i

const NewUsers = Schema.Struct({ data: NewUser })
const Listed = Schema.Struct({
  documents: Schema.Array(Schema.Struct({ id: Schema.String, path: Schema.String, sha256: Schema.String }))
})
const Answered = Schema.Struct({ conversation: Schema.Struct({ id: Schema.String }) })
const Link = Schema.Struct({ path: Schema.String })
const Figures = Schema.Struct({ figures: Schema.Array(Schema.Struct({ crop: Schema.String })) })

/** The ways to call as one user. Absent: that credential has no such right at all. */
interface Role {
  readonly name: string
  readonly key: Record<string, string>
  readonly token: Record<string, string>
  readonly session: Record<string, string>
}

const makeRole = Effect.fn(function* ({ call, json }: Server, username: string, documents = "write") {
  const given = { as: "token", json: { username, quota: QUOTA } } as const
  const { access_token: token, id } = (yield* json(NewUsers, "/api/user", given)).data
  return yield* roleOf({ call, json }, username, token, documents, id)
})

const roleOf = Effect.fn(function* (
  { call, json }: Pick<Server, "call" | "json">,
  name: string,
  token: string,
  documents: string,
  id: string
) {
  const key = { name: "k", expired_time: -1, remain_quota: QUOTA, subnet: "", documents }
  const made = yield* json(MadeKey, "/api/token/", { ...bearer(token), json: key })
  // With a key of fewer rights, the session has those of the key.
  const credential = documents === "write" ? { accessToken: token } : { apiKey: made.data.key }
  const opened = yield* call("/session", { as: "none", json: credential })
  const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? ""
  return {
    id,
    secret: made.data.key,
    name,
    key: { authorization: `Bearer ${made.data.key}` },
    token: { authorization: `Bearer ${token}` },
    session: { cookie, "sec-fetch-site": "same-origin" }
  }
})

/** Calls that end the credential they are made with, or that start minutes of work. */
const LEFT_OUT = new Set([
  "GET /api/user/token",
  "POST /api/user/token",
  "POST /api/user/:id/token",
  "DELETE /session",
  "POST /rebuild",
  "POST /api/local-models/download"
])

/** What is asked for, with everything of the collection that a caller could know. */
interface Wanted {
  readonly reference: string
  readonly documents: ReadonlyArray<string>
  readonly figures: ReadonlyArray<string>
  readonly conversation: string
}

const random = seeded(20)

const fill = (path: string, values: Readonly<Record<string, string>>): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? "1"))

const parametersOf = ({ path }: Endpoint, { conversation, documents, figures, reference }: Wanted) => {
  if (path.startsWith("/documents/:id"))
    return documents.flatMap((id) =>
      (path.includes(":figure") ? figures : [""]).map((figure) => ({ figure, id, number: "1" }))
    )
  if (path.startsWith("/collections/")) return [{ name: reference }]
  if (path.startsWith("/conversations/")) return [{ id: conversation, number: "1" }]
  return [{ id: "1", secret: "x", video_id: "1", task_id: "1", token_id: "1" }]
}

const payloadsOf = (endpoint: Endpoint, { reference }: Wanted, user: string): ReadonlyArray<unknown> => {
  const asked = { question, collection: reference }
  switch (endpoint.path) {
    case "/qa":
      return [asked, { ...asked, conversation: "new" }, { ...asked, filter: { metadata: { year: 1 } } }]
    case "/retrieve":
      return [asked, { ...asked, filter: { documents: ["none.md"] } }]
    case "/summary":
      return [
        { collection: reference, method: "extractive" },
        { collection: reference, plan: true }
      ]
    case "/v1/chat/completions":
      return [{ model: `sluice/${reference}`, messages: [{ role: "user", content: question }] }]
    case "/collections/:name/members":
      return [{ members: [{ user, access: "write" }] }]
    case "/conversations/:id":
      return [{ title: "x" }]
    case "/conversations/:id/turns/:number/rating":
      return [{ rating: "down" }]
    default:
      return [endpoint.payload?.(random)]
  }
}

interface Attempt {
  readonly name: string
  readonly path: string
  readonly options: CallOptions
}

/** The requests of an endpoint for a collection. */
const attemptsOf = (endpoint: Endpoint, wanted: Wanted, user: string): ReadonlyArray<Attempt> => {
  const { files, method, name, path } = endpoint
  const inCollection = path.startsWith("/documents") ? `?collection=${wanted.reference}` : ""
  return parametersOf(endpoint, wanted).flatMap((values) =>
    payloadsOf(endpoint, wanted, user).map((json) => ({
      name,
      path: fill(path, values) + inCollection,
      options: {
        as: "none",
        method,
        ...(json !== undefined && method !== "GET" && { json }),
        ...(files && { body: filesOf({ "intruder.md": "# Intruder" }) })
      }
    }))
  )
}

const isDocuments = ({ path }: Endpoint) =>
  /^\/(documents|collections|qa|retrieve|summary|conversations|shared|status|session)/.test(path)

/** The credential that an endpoint takes, and for documents the session too. */
const credentialsOf = (endpoint: Endpoint, role: Role): ReadonlyArray<Record<string, string>> =>
  endpoint.path.startsWith("/api")
    ? [role.token, role.key]
    : isDocuments(endpoint)
      ? [role.key, role.session]
      : [role.key]

const image = Effect.promise(() =>
  sharp({ create: { width: 64, height: 64, channels: 3, background: "#7a5" } })
    .png()
    .toBuffer()
)

/** A collection `qzvault` of a user, its members, and everybody else. */
const prepare = Effect.fn(function* (server: Server) {
  const owner = yield* makeRole(server, "Olga")
  const by = (options: CallOptions = {}) => ({ ...options, as: "none" as const, headers: owner.key })
  const vault = "/documents?collection=qzvault"
  const form = filesOf({ ...FILES, "qzplan.png": new Uint8Array(yield* image) })
  form.append("metadata", '{"qzclearance": 3}')
  form.append("files", new Blob(["# Notes\n\nOak is heavy."]), "qznotes.md")
  assert.strictEqual((yield* server.call(vault, by({ body: form }))).status, 200)
  const [reader, writer, former, stranger] = yield* Effect.all(
    ["Ann", "Ben", "Fay", "Eve"].map((name) => makeRole(server, name))
  )
  const setMembers = (members: ReadonlyArray<object>) =>
    server.call("/collections/qzvault/members", by({ method: "PUT", json: { members } }))
  yield* setMembers([
    { user: "Ann", access: "read" },
    { user: "Ben", access: "write" },
    { user: "Fay", access: "write" }
  ])
  const reference = `qzvault@${owner.id}`
  const json = { question, collection: reference, conversation: "new" }
  const formers = { as: "none", headers: former?.key ?? {} } as const
  const kept = yield* server.json(Answered, "/qa", { ...formers, json })
  const link = yield* server.json(Link, `/conversations/${kept.conversation.id}/link`, {
    ...formers,
    method: "POST"
  })
  yield* setMembers([{ user: "Fay", access: "none" }])
  const { documents } = yield* server.json(Listed, vault, by())
  const id = documents.find(({ path }) => path === "qzplan.png")?.id ?? ""
  const { figures } = yield* server.json(Figures, `/documents/${id}/figures?collection=qzvault`, by())
  const crop = figures[0]?.crop.split("/")[4] ?? assert.fail("no crop")
  const { conversation } = yield* server.json(
    Answered,
    "/qa",
    by({ json: { ...json, collection: "qzvault" } })
  )
  const wanted = { reference, documents: documents.map(({ id }) => id), figures: ["1", crop] }
  const textOf = (path: string) =>
    Effect.flatMap(server.call(path, by()), (response) => Effect.promise(() => response.text()))
  return {
    owner,
    link: link.path,
    roles: { reader, writer, former, stranger },
    formersConversation: kept.conversation.id,
    wanted: { ...wanted, conversation: conversation.id },
    /** Everything that somebody might change. */
    state: Effect.all([
      textOf(vault),
      textOf("/collections/qzvault/members"),
      textOf(`/conversations/${conversation.id}`)
    ])
  }
})

/** A response: its status, and whether it has anything of the collection. */
const send = (server: Server, { options, path }: Attempt, headers: Record<string, string>) =>
  Effect.gen(function* () {
    const response = yield* server.call(path, { ...options, headers })
    const bytes = yield* Effect.promise(() => response.arrayBuffer())
    const isImage = response.headers.get("content-type")?.startsWith("image/") === true
    // The request's own words may come back, and a key, which is random, may have any letters.
    const text = Buffer.from(bytes)
      .toString()
      .replaceAll(/(?:sk|sat)-[\w*]+/g, "")
      .replaceAll(/qzvault@\w+(-\w+)*/gi, "")
      .replaceAll("qzvault", "")
    return { status: response.status, leaks: (isImage && response.status === 200) || SAID.test(text) }
  })

const READS = [
  "GET /documents",
  "GET /documents/:id",
  "GET /documents/:id/file",
  "GET /documents/:id/figures",
  "GET /documents/:id/figures/:figure/crop",
  "GET /documents/:id/pages/:number",
  "GET /documents/:id/pages/:number/image",
  "POST /qa",
  "POST /retrieve",
  "POST /summary",
  "POST /v1/chat/completions"
]

const TIMEOUT = 120_000

describe("every endpoint as every role", () => {
  it.live(
    "tells those without access nothing, and lets readers and writers change nothing else",
    () =>
      Effect.gen(function* () {
        const server = yield* startServer()
        const { formersConversation, link, owner, roles, state, wanted } = yield* prepare(server)
        const { former, reader, stranger, writer } = roles
        if (!former || !reader || !stranger || !writer) return assert.fail()
        const own = (documents: string) =>
          roleOf(server, "Olga", owner.token.authorization.slice(7), documents, owner.id)
        const administrator = yield* roleOf(server, "owner", server.secrets.accessToken, "write", "owner")
        const nobody = { name: "nobody", key: {}, token: {}, session: {} }
        const before = yield* state
        const found: Array<string> = []
        const reached = new Set<string>()

        const tryAll = Effect.fn(function* (
          role: Role,
          may: { readonly read?: boolean; readonly write?: boolean },
          targets: ReadonlyArray<Wanted>
        ) {
          for (const endpoint of endpoints) {
            const { method, name } = endpoint
            const isChange = method !== "GET" && !READS.includes(name)
            if (LEFT_OUT.has(name) || (may.write === true && isChange && name.includes("/documents")))
              continue
            // An administrator may change accounts and connections at random: that is no leak.
            if (role === administrator && isChange && endpoint.path.startsWith("/api")) continue
            for (const target of targets)
              for (const attempt of attemptsOf(endpoint, target, role.name))
                for (const headers of credentialsOf(endpoint, role)) {
                  const { leaks, status } = yield* send(server, attempt, headers)
                  const at = `${role.name}: ${name} ${attempt.path} → ${status}`
                  if (status >= 500) found.push(at)
                  if (leaks && may.read !== true) found.push(`${at} leaks`)
                  if (leaks && may.read === true) reached.add(name)
                }
            if (isChange && JSON.stringify(yield* state) !== JSON.stringify(before)) {
              found.push(`${role.name}: ${name} changes something`)
              return
            }
          }
        })

        const named = { ...wanted, reference: "qzvault" }
        yield* tryAll(stranger, {}, [wanted, named])
        for (const role of [administrator, nobody]) yield* tryAll(role, {}, [wanted])
        yield* tryAll(former, {}, [wanted, { ...wanted, conversation: formersConversation }])
        yield* tryAll({ ...(yield* own("none")), name: "Olga's key without documents" }, {}, [wanted, named])
        yield* tryAll(reader, { read: true }, [wanted])
        yield* tryAll(writer, { read: true, write: true }, [wanted])
        yield* tryAll({ ...(yield* own("read")), name: "Olga's reading key" }, { read: true }, [named])
        assert.deepStrictEqual(found, [])
        assert.includeMembers([...reached], READS, "members reach what they may read")

        const shared = yield* send(server, { name: "", path: link, options: { as: "none" } }, {})
        assert.deepStrictEqual(shared, { status: 404, leaks: false })
        const tools = Effect.fn(function* (role: { readonly secret: string }) {
          const client = yield* connect(httpTransport(server.url, role.secret))
          const { reference: collection } = wanted
          const calls: ReadonlyArray<[string, Record<string, unknown>]> = [
            ["search", { query: question, collection }],
            ["ask", { question, collection }],
            ["get_passage", { id: `${wanted.documents[0]}#0`, collection }],
            ["list_documents", { collection }],
            ["list_documents", {}]
          ]
          return yield* Effect.forEach(calls, ([name, parameters]) =>
            Effect.map(callTool(client, name, parameters), ({ content, text }) =>
              SAID.test(
                JSON.stringify([text, content])
                  .replaceAll(`"${collection}"`, "")
                  .replaceAll(`\\"${collection}\\"`, "")
              )
            )
          )
        })
        for (const role of [stranger, former, administrator])
          assert.deepStrictEqual(yield* tools(role), [false, false, false, false, false], role.name)
        assert.deepStrictEqual(yield* tools(reader), [true, true, true, true, true])
      }).pipe(Effect.scoped),
    TIMEOUT
  )
})
