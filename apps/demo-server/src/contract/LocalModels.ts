/** Neural models that run in the server, and model servers on its machine: for administrators. Pure. */
import { AccessTokenAuth, field, namedOpenStruct } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { DataEnvelope } from "./Administration.ts"
import { OfferedModel } from "./Connections.ts"

const text = Schema.optionalKey(Schema.String)

const LocalModel = Schema.Struct({
  id: field("The model's id.", Schema.String),
  kind: field("What it does.", Schema.Literals(["embedder", "reranker", "reader", "chat"])),
  languages: field("Its languages.", Schema.String),
  licence: field("The licence of its weights.", Schema.String),
  bytes: field("The bytes of its files.", Schema.Int),
  note: field("What to know before choosing it.", text)
})

/** A download goes on without the page that started it. */
export const ModelDownload = Schema.Struct({
  set: field("The set.", Schema.String),
  state: field(
    "How far it is. A `cancelled` or `failed` one continues where it broke off.",
    Schema.Literals(["running", "done", "cancelled", "failed"])
  ),
  done: field("The bytes that are here.", Schema.Int),
  total: field("The bytes of the set.", Schema.Int),
  message: field("Why it failed, and what to do.", text)
})
export type ModelDownload = typeof ModelDownload.Type

export const LocalModels = Schema.Struct({
  sets: field(
    "Models that work together.",
    Schema.Array(
      Schema.Struct({
        name: field("The name of the set.", Schema.String),
        pulled: field("Whether all its files are here.", Schema.Boolean),
        models: field("Its models.", Schema.Array(LocalModel)),
        missingRuntime: field("The command that installs what its chat model needs besides.", text),
        memoryShortage: field(
          "Why its chat model does not fit into the server's memory, and what to do.",
          text
        )
      })
    )
  ),
  folder: field("The folder of the models on the server.", Schema.String),
  missingRuntime: field(
    "The command that installs the runtime of all sets. Absent if it is installed.",
    text
  ),
  used: field("The set that the library uses.", text),
  download: field("The last download since the start of the server.", Schema.optionalKey(ModelDownload)),
  problem: field("Why the library can use none of them here.", text)
})
export type LocalModels = typeof LocalModels.Type

export const LocalModelServers = Schema.Struct({
  servers: field(
    "Model servers that run on the server's machine. None of them is used unless it is connected.",
    Schema.Array(
      Schema.Struct({
        name: field("The program.", Schema.String),
        url: field("Its address.", Schema.String),
        models: field("Its models. What they do may be guessed from their names.", Schema.Array(OfferedModel))
      })
    )
  )
})
export type LocalModelServers = typeof LocalModelServers.Type

export const LocalModelSetRequest = namedOpenStruct("LocalModelSetRequest", {
  set: field("The name of the set.", Schema.String)
})

export const LocalModelUseRequest = namedOpenStruct("LocalModelUseRequest", {
  set: field("The name of the set. `null`: none.", Schema.NullOr(Schema.String))
})

const success = DataEnvelope(LocalModels)

export class LocalModelsGroup extends HttpApiGroup.make("localModels")
  .add(
    HttpApiEndpoint.get("list", "/api/local-models", { success }),
    /** Looks for model servers on the server's machine. */
    HttpApiEndpoint.get("servers", "/api/local-models/servers", {
      success: DataEnvelope(LocalModelServers)
    }),
    /** Downloads a set in the background, or continues its download. One set at a time. */
    HttpApiEndpoint.post("download", "/api/local-models/download", {
      payload: LocalModelSetRequest,
      success
    }),
    /** Stops the download. What has arrived stays. */
    HttpApiEndpoint.delete("cancel", "/api/local-models/download", { success }),
    /** Uses a set, which must be here, to embed and rerank, and to answer if it has a reader. Another embedding model needs a rebuild. */
    HttpApiEndpoint.put("use", "/api/local-models", { payload: LocalModelUseRequest, success })
  )
  .middleware(AccessTokenAuth) {}
