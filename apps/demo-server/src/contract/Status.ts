/** The server's status: its models, document counts, and whether it can answer. */
import { MalformedRequest } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Access } from "./Access.ts"
import { IngestStreamEvent } from "./Documents.ts"

/**
 * - `ready`: questions are answered
 * - `filling`: the samples are being added at the first start; questions are answered from the samples added so far
 * - `rebuild-needed`: the library was built with another model; `/qa` returns 409 until `POST /rebuild`
 * - `rebuilding`: a rebuild is running; the old library stays in place until it is done
 * - `unavailable`: the embedding gateway cannot be reached; each request tries again
 */
export const State = Schema.Literals(["ready", "filling", "rebuild-needed", "rebuilding", "unavailable"])

export const ServerStatus = Schema.Struct({
  version: Schema.String,
  provider: Schema.Literals(["embedded", "gateway"]),
  /** True without a gateway and other providers: all models run in the server, and balances are demo credit. */
  demo: Schema.Boolean,
  models: Schema.Struct({
    embedding: Schema.String,
    rerank: Schema.String,
    chat: Schema.String,
    /** The model that looks at figures. */
    vision: Schema.optionalKey(Schema.String)
  }),
  /** What can be added to the library. */
  formats: Schema.Array(
    Schema.Struct({ id: Schema.String, label: Schema.String, extensions: Schema.Array(Schema.String) })
  ),
  /** Of the caller's library. Absent without a credential that may read documents. */
  documents: Schema.optionalKey(Schema.Int),
  passages: Schema.optionalKey(Schema.Int),
  /** Bytes that the user's documents and stored responses have, and may have. Absent like the counts. */
  storage: Schema.optionalKey(Schema.Struct({ used: Schema.Int, limit: Schema.Int })),
  state: State,
  /** Advice, if there is something to do. */
  message: Schema.optionalKey(Schema.String),
  /** Starter questions about the samples; empty without samples. */
  questions: Schema.Array(Schema.String)
})
export type ServerStatus = typeof ServerStatus.Type

export class StatusGroup extends HttpApiGroup.make("status")
  .add(
    /** Needs no credential: without one, the response has only the state, the formats and the names of the models. */
    HttpApiEndpoint.get("status", "/status", { success: ServerStatus }),
    /** Reads every document again with the current models. Server-sent events, `done` last. */
    HttpApiEndpoint.post("rebuild", "/rebuild", {
      success: HttpApiSchema.StreamSse({ data: IngestStreamEvent })
    }).middleware(Access)
  )
  .middleware(MalformedRequest) {}
