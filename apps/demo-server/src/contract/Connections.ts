/** Vendors of models that administrators connect. Not part of the gateway interface; needs a system access token. */
import { AccessTokenAuth, MalformedRequest, namedOpenStruct } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { DataEnvelope } from "./Administration.ts"

const Operation = Schema.Literals(["embeddings", "rerank", "chat", "images", "videos"])

const text = Schema.optionalKey(Schema.String)
const optionalText = Schema.optional(Schema.NullOr(Schema.String))

const library = { embedding: text, rerank: text, chat: text, vision: text }

/** The name of an upstream, in tasks, lists and logs. */
export const ConnectionId = Schema.String.check(
  Schema.isPattern(/^(?!\.+$)[\w.:-]{1,64}$/, {
    expected: "a name of up to 64 letters, digits and . : _ -"
  })
)

/** A model of a vendor. */
export const OfferedModel = Schema.Struct({ id: Schema.String, operation: Operation })
export type OfferedModel = typeof OfferedModel.Type

export const Connections = Schema.Struct({
  vendors: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      name: Schema.String,
      operations: Schema.Array(Operation),
      /** Absent: it has to be given. */
      url: text,
      /** The variable that usually has the key. Absent: no key is needed. */
      keyVariable: text,
      /** Whether the server has that variable. */
      hasKey: Schema.Boolean
    })
  ),
  connections: Schema.Array(Schema.Struct({ id: Schema.String, vendor: Schema.String, url: text })),
  /** The models of the library that a vendor serves. */
  library: Schema.Struct(library),
  /** Why nothing can be connected here. */
  problem: text
})
export type Connections = typeof Connections.Type

/** A vendor to connect. */
export const ConnectionRequest = namedOpenStruct("ConnectionRequest", {
  /** The name of the dialect. */
  vendor: Schema.String,
  /** Its name here. Default: the vendor. */
  id: Schema.optional(Schema.NullOr(ConnectionId)),
  /** Its address. Default: the vendor's. */
  url: optionalText,
  /** It is kept in a private file and never returned. Default: the saved one, or the vendor's variable. */
  key: optionalText,
  /** Default: those of the saved connection with this name, or those that the vendor lists. */
  models: Schema.optional(Schema.NullOr(Schema.Array(OfferedModel))),
  /** Try an image and a video too, which cost more. */
  media: Schema.optional(Schema.NullOr(Schema.Boolean)),
  /** Models that the library takes. Others stay as they are. */
  library: Schema.optional(Schema.NullOr(Schema.Struct(library)))
})
export type ConnectionRequest = typeof ConnectionRequest.Type

export const TryResult = Schema.Struct({
  operation: Operation,
  model: Schema.String,
  ok: Schema.Boolean,
  /** Why it failed, and what to do. */
  message: text
})
export type TryResult = typeof TryResult.Type

/** What a vendor answered, and the models that it proposes for the library. */
export const ConnectionTrial = Schema.Struct({
  models: Schema.Array(OfferedModel),
  tries: Schema.Array(TryResult),
  library: Schema.Struct(library)
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
      params: { id: ConnectionId },
      success: DataEnvelope(Connections)
    })
  )
  .middleware(AccessTokenAuth)
  .middleware(MalformedRequest) {}
