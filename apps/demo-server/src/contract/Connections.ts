/** Vendors of models that administrators connect. Not part of the gateway interface; needs a system access token. */
import { field, AccessTokenAuth, namedOpenStruct } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { DataEnvelope, nullable } from "./Administration.ts"

/** What a model does. */
export const VendorOperation = Schema.Literals(["embeddings", "rerank", "chat", "images", "videos"])

const text = Schema.optionalKey(Schema.String)
const optionalText = nullable(Schema.String)

const library = {
  embedding: field("The model of the vectors.", text),
  rerank: field("The model that reranks.", text),
  chat: field("The model that answers.", text),
  vision: field("The model that looks at figures.", text)
}

/** The name of an upstream, in tasks, lists and logs. */
export const ConnectionId = Schema.String.check(
  Schema.isPattern(/^(?!\.+$)[\w.:-]{1,64}$/, {
    expected: "a name of up to 64 letters, digits and . : _ -"
  })
)

/** A model of a vendor. */
export const OfferedModel = Schema.Struct({
  id: field("The model's id.", Schema.String),
  operation: field("What it does.", VendorOperation)
})
export type OfferedModel = typeof OfferedModel.Type

export const Connections = Schema.Struct({
  vendors: field(
    "The vendors that can be connected.",
    Schema.Array(
      Schema.Struct({
        id: field("The name of the dialect.", Schema.String),
        name: field("The name shown to people.", Schema.String),
        operations: field("What the vendor's models do.", Schema.Array(VendorOperation)),
        url: field("The vendor's address. Absent: it has to be given.", text),
        keyVariable: field(
          "The environment variable that usually has the key. Absent: no key is needed.",
          text
        ),
        hasKey: field("Whether the server has that variable.", Schema.Boolean)
      })
    )
  ),
  connections: field(
    "The vendors that are connected.",
    Schema.Array(
      Schema.Struct({
        id: field("The name of the connection.", Schema.String),
        vendor: field("The name of the dialect.", Schema.String),
        url: field("Its address.", text)
      })
    )
  ),
  library: field("The models of the library that a vendor serves.", Schema.Struct(library)),
  problem: field("Why nothing can be connected here.", text)
})
export type Connections = typeof Connections.Type

/** A vendor to connect. */
export const ConnectionRequest = namedOpenStruct("ConnectionRequest", {
  vendor: field("The name of the dialect.", Schema.String),
  id: field("Its name here. Default: the vendor.", nullable(ConnectionId)),
  url: field("Its address. Default: the vendor's.", optionalText),
  key: field("The API key, never returned. Default: the saved one, or the vendor's variable.", optionalText),
  models: field(
    "The models to use. Default: those of the saved connection, or those that the vendor lists.",
    nullable(Schema.Array(OfferedModel))
  ),
  media: field("Try an image and a video too: costs more.", nullable(Schema.Boolean)),
  library: field("Models that the library takes. Others stay as they are.", nullable(Schema.Struct(library)))
})
export type ConnectionRequest = typeof ConnectionRequest.Type

export const TryResult = Schema.Struct({
  operation: field("What was tried.", VendorOperation),
  model: field("The model's id.", Schema.String),
  ok: field("Whether it succeeded.", Schema.Boolean),
  message: field("Why it failed, and what to do.", text)
})
export type TryResult = typeof TryResult.Type

/** What a vendor answered, and the models that it proposes for the library. */
export const ConnectionTrial = Schema.Struct({
  models: field("The models that the vendor lists.", Schema.Array(OfferedModel)),
  tries: field("The result of one call of each kind.", Schema.Array(TryResult)),
  library: field("The models that it proposes for the library.", Schema.Struct(library))
})
export type ConnectionTrial = typeof ConnectionTrial.Type

export class ConnectionsGroup extends HttpApiGroup.make("connections")
  .add(
    HttpApiEndpoint.get("list", "/api/connections", { success: DataEnvelope(Connections) }),
    /** Lists the vendor's models and makes one small call of each kind. Saves nothing. */
    HttpApiEndpoint.post("try", "/api/connections/try", {
      payload: ConnectionRequest,
      success: DataEnvelope(ConnectionTrial)
    }),
    /** Adds the vendor to the providers' file, or changes it. The server uses it at once. */
    HttpApiEndpoint.put("save", "/api/connections", {
      payload: ConnectionRequest,
      success: DataEnvelope(Connections)
    }),
    /** Removes the vendor, its saved key, and the library's models that only it serves. */
    HttpApiEndpoint.delete("remove", "/api/connections/:id", {
      params: { id: field("The name of the connection.", ConnectionId) },
      success: DataEnvelope(Connections)
    })
  )
  .middleware(AccessTokenAuth) {}
