/** How the server is: its models, what it holds, and whether it can answer. */
import { failures, MalformedRequest } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Access } from "./Access.ts"
import { IngestEvent } from "./Documents.ts"

/**
 * - `ready`: ask
 * - `filling`: the samples are being read on the first start; asking works and knows what is there so far
 * - `rebuild-needed`: the library was made with another model; `/qa` answers 409 until `POST /rebuild`
 * - `rebuilding`: the rebuild is under way; the old library stays until it is done
 * - `unavailable`: the gateway that embeds cannot be reached; the server tries again at each request
 */
export const State = Schema.Literals(["ready", "filling", "rebuild-needed", "rebuilding", "unavailable"])

export const ServerStatus = Schema.Struct({
  version: Schema.String,
  provider: Schema.Literals(["embedded", "gateway"]),
  models: Schema.Struct({
    embedding: Schema.String,
    rerank: Schema.String,
    chat: Schema.String,
    /** What looks at figures. */
    vision: Schema.optionalKey(Schema.String)
  }),
  documents: Schema.Int,
  passages: Schema.Int,
  state: State,
  /** What to do, when there is something to do. */
  message: Schema.optionalKey(Schema.String),
  /** Questions to start with, about the samples; empty when there are none. */
  questions: Schema.Array(Schema.String)
})
export type ServerStatus = typeof ServerStatus.Type

export class Status extends HttpApiGroup.make("status")
  .add(
    /** Wants no credential: it tells counts and model names, nothing of what the documents say. */
    HttpApiEndpoint.get("status", "/status", { success: ServerStatus, error: failures }),
    /** Reads every document again with the models of today. Server-sent events, `done` last. */
    HttpApiEndpoint.post("rebuild", "/rebuild", {
      success: HttpApiSchema.StreamSse({ data: IngestEvent }),
      error: failures
    }).middleware(Access)
  )
  .middleware(MalformedRequest) {}
