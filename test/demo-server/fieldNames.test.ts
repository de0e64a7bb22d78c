/** Field names that upstreams could read differently are rejected. */
import { assert, it } from "@effect/vitest"
import { ErrorBody } from "@sluice/core/contract"
import { Effect, Schema } from "effect"
import { startPaidServer, chat, costs, embed, vectors } from "./PaidServer.ts"
import { json } from "./Upstream.ts"

const rest = (body: object) => JSON.stringify(body).slice(1, -1)
const film = { model: "animator", prompt: "a lock", seconds: "4" }

const refused = [
  ["/v1/chat/completions", `{${rest(chat)},"Model":"dear"}`, "Model"],
  ["/v1/chat/completions", `{"MODEL":"dear",${rest(chat)}}`, "MODEL"],
  ["/v1/chat/completions", `{${rest(chat)},"N":50}`, "N"],
  ["/v1/chat/completions", `{${rest(chat)},"max_to\u212aens":99999}`, "max_to\u212aens"],
  ["/v1/chat/completions", `{${rest(chat)},"me\u017f\u017fages":[]}`, "me\u017f\u017fages"],
  ["/v1/chat/completions", `{${rest(chat)},"Max_Completion_Tokens":9}`, "Max_Completion_Tokens"],
  ["/v1/chat/completions", `{"n":10,${rest(chat)},"n":1}`, "n"],
  ["/v1/chat/completions", String.raw`{"\u006eodel":1,"\u006dodel":"dear",${rest(chat)}}`, "model"],
  ["/v1/chat/completions", `{${rest(chat)},"stream":false,"stream":true}`, "stream"],
  ["/v1/chat/completions", `{${rest(chat)},"stream":true,"N":2}`, "N"],
  ["/v1/embeddings", `{"input":["a","b"],${rest(embed)}}`, "input"],
  ["/v1/embeddings", `{${rest(embed)},"Input":"more"}`, "Input"],
  ["/v1/rerank", `{"model":"r","query":"q","documents":["d"],"Documents":["e"]}`, "Documents"],
  ["/v1/rerank", `{"model":"r","query":"q","documents":["d"],"x":1e400}`, "x"],
  ["/v1/embeddings", `{${rest(embed)},"x":{"y":[-1${"0".repeat(310)}]}}`, "x"],
  ["/v1/images/generations", `{"model":"painter","prompt":"a lock","n":10,"n":1}`, "n"],
  ["/v1/images/generations", `{"model":"painter","prompt":"a lock","Size":"4K"}`, "Size"],
  ["/v1/videos", `{${rest(film)},"Seconds":"15"}`, "Seconds"]
] as const

it.live("repeated names and names in another case are rejected, and similar valid bodies pass", () =>
  Effect.gen(function* () {
    const { requests, server } = yield* startPaidServer((response) =>
      json(response, { ...vectors(), choices: [{ message: { content: "" } }], id: "film", status: "queued" })
    )
    const send = (path: string, body: string | FormData) =>
      Effect.flatMap(
        server.call(path, {
          body,
          ...(typeof body === "string" && { headers: { "content-type": "application/json" } })
        }),
        (response) => Effect.promise(async () => [response.status, await response.text()] as const)
      )
    for (const [path, body, param] of refused) {
      const [status, text] = yield* costs(server, send(path, body), 0)
      assert.strictEqual(status, 400, body)
      const { error } = Schema.decodeUnknownSync(Schema.fromJsonString(ErrorBody))(text)
      assert.strictEqual(error.param, param, body)
    }
    const form = new FormData()
    for (const [name, value] of Object.entries({ ...film, Seconds: "15" })) form.append(name, value)
    assert.strictEqual((yield* costs(server, send("/v1/videos", form), 0))[0], 400)
    assert.deepStrictEqual(requests(), [])

    const messages = [{ role: "user", content: 'say "model" and "n":1, "n":2, é' }]
    const tools = [{ type: "function", function: { name: "n", parameters: { Model: 1, n: { n: "n" } } } }]
    for (const body of [
      JSON.stringify({ ...chat, messages, tools }),
      JSON.stringify({ ...chat, messages, User: "n", Logprobs: true }),
      JSON.stringify({ ...chat, messages }).replace("é", String.raw`\u00e9 \u0041`)
    ]) {
      assert.strictEqual((yield* send("/v1/chat/completions", body))[0], 200, body)
      assert.strictEqual(requests().at(-1)?.body, body)
    }
  }).pipe(Effect.scoped)
)
