/** Finds model servers on this machine. To use one, a person configures it as a gateway. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { guessOperation } from "@sluice/providers"
import { Effect, Schema } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import type { OfferedModel } from "../contract/Connections.ts"
import type { LocalModelServers } from "../contract/LocalModels.ts"

export type LocalServer = LocalModelServers["servers"][number]

/** Ollama and llama.cpp do not say what a model is for. */
const byName = (id: string, family = ""): OfferedModel => ({
  id,
  operation: guessOperation(`${id} ${family}`) === "embeddings" ? "embeddings" : "chat"
})

const OllamaTags = Schema.Struct({
  models: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      details: Schema.Struct({ family: Schema.optionalKey(Schema.String) })
    })
  )
})

const LmStudioModels = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({ id: Schema.String, type: Schema.Literals(["llm", "vlm", "embeddings"]) })
  )
})

const LlamaCppModels = Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String, owned_by: Schema.Literal("llamacpp") }))
})

const TeiInfo = Schema.Struct({
  model_id: Schema.String,
  model_type: Schema.Struct({ embedding: Schema.Unknown })
})

const server = <A>(
  name: string,
  ports: ReadonlyArray<number>,
  path: string,
  schema: Schema.Codec<A, unknown>,
  modelsOf: (response: A) => ReadonlyArray<OfferedModel>
) => ({
  name,
  ports,
  path,
  read: (response: HttpClientResponse.HttpClientResponse) =>
    Effect.map(HttpClientResponse.schemaBodyJson(schema)(response), modelsOf)
})

/** Their documented ports, and the endpoint that lists their models. */
const KNOWN = {
  ollama: server("Ollama", [11_434], "/api/tags", OllamaTags, ({ models }) =>
    models.map(({ details, name }) => byName(name, details.family))
  ),
  lmstudio: server("LM Studio", [1_234], "/api/v0/models", LmStudioModels, ({ data }) =>
    data.map(({ id, type }) => ({ id, operation: type === "embeddings" ? "embeddings" : "chat" }))
  ),
  llamacpp: server("llama.cpp", [8_080], "/v1/models", LlamaCppModels, ({ data }) =>
    data.map(({ id }) => byName(id))
  ),
  // Its containers are usually published on 8080. Its rerankers have an API of their own.
  tei: server("Text Embeddings Inference", [8_080, 3_000], "/info", TeiInfo, ({ model_id: id }) => [
    { id, operation: "embeddings" }
  ])
}

const NAMES = Object.keys(KNOWN)

/** The ports of `NAME=PORT` pairs. The error is a sentence. */
export const parsePorts = (pairs: ReadonlyArray<readonly [name: string, port: string]>) =>
  Effect.forEach(pairs, ([name, text]) => {
    const port = Number(text)
    return NAMES.includes(name) && Number.isInteger(port) && port > 0 && port < 65_536
      ? Effect.succeed([name, port] as const)
      : Effect.fail(`${name}=${text} is not NAME=PORT. Names: ${NAMES.join(", ")}`)
  }).pipe(Effect.map((ports): Readonly<Record<string, number>> => Object.fromEntries(ports)))

/** A program on this machine answers in this time, or is not what is looked for. */
const PATIENCE = "1500 millis"
const MAX_RESPONSE_BYTES = 1_048_576

/** Names that can stand in a command and on a terminal as they are. */
const PLAIN_NAME = /^[\w.:/@+-]+$/

const findServers = Effect.fn("models.findLocalServers")(function* (ports: Readonly<Record<string, number>>) {
  const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
  const places = Object.entries(KNOWN).flatMap(([id, { ports: usual, ...known }]) =>
    (ports[id] === undefined ? usual : [ports[id]]).map((port) => ({
      ...known,
      url: `http://127.0.0.1:${port}`
    }))
  )
  const found = yield* Effect.forEach(
    places,
    ({ name, path, read, url }) =>
      client.get(`${url}${path}`).pipe(
        Effect.flatMap(read),
        Effect.timeout(PATIENCE),
        Effect.map((models): LocalServer => ({
          name,
          url,
          models: models.filter(({ id }) => PLAIN_NAME.test(id))
        })),
        Effect.orElseSucceed(() => undefined)
      ),
    { concurrency: "unbounded" }
  )
  return found.filter((one) => one !== undefined)
})

/** The servers that run on loopback. `ports` has those that listen elsewhere than documented. */
export const findLocalServers = (ports: Readonly<Record<string, number>>) =>
  Effect.provide(
    findServers(ports),
    NodeHttpClient.layerUndiciOptions({ maxResponseSize: MAX_RESPONSE_BYTES })
  )

/** How to use a server as the gateway of the library. */
export const gatewayVariables = ({ models, url }: LocalServer): string | undefined => {
  const [embedding, chat] = (["embeddings", "chat"] as const).map(
    (operation) => models.find((model) => model.operation === operation)?.id
  )
  if (embedding === undefined) return undefined
  const reader = chat === undefined ? "" : ` SLUICE_CHAT_MODEL=${chat}`
  return `SLUICE_GATEWAY_URL=${url} SLUICE_API_KEY=none SLUICE_EMBEDDING_MODEL=${embedding}${reader}`
}
